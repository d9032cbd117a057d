import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { download, post } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { formatCount } from "../../lib/format";
import { language, t } from "../../text";
import { Button } from "../../ui/Button";
import { CopyCommands } from "../../ui/Code";
import { Confirm, Dialog } from "../../ui/Dialog";
import { complain, notify } from "../../ui/notices";
import { useDefinitionNames } from "../instances/names";
import { bulkLines } from "./lines";
import { type Published, publishAll } from "./publishing";
import { Users } from "./Users";

interface Props {
  selected: ReadonlySet<string>;
  total: number;
  onDone: () => void;
  onPublished: (published: Published) => void;
}

const PUBLISH = "/bulk-actions/publish/workflow-definitions/by-definition-ids";

type Asked = "publish" | "retract" | "delete";

/** How many definitions were published, and of each of the others why it was not. */
export function PublishedDialog({ published, onClose }: { published: Published; onClose: () => void }) {
  const names = useDefinitionNames();
  const { done, left } = published;
  return (
    <Dialog title={t.definitions.publishedMany(done.length, done.length + left.length)} onClose={onClose}>
      <p className="text-sm text-soft">{t.definitions.notPublished}</p>
      <ul className="mt-3 max-h-96 divide-y divide-line overflow-auto border-y border-line text-sm">
        {left.map(([id, reasons]) => (
          <li key={id} className="py-2">
            <Link to="/definitions/$id" params={{ id }} className="link font-medium">
              {names.get(id) ?? id}
            </Link>
            {reasons.length === 0 && <p>{t.definitions.goneMeanwhile}</p>}
            {reasons.map((reason) => (
              <p key={reason} className="break-words">
                {reason}
              </p>
            ))}
          </li>
        ))}
      </ul>
      <div className="mt-5 flex justify-end">
        <Button onClick={onClose}>{t.close}</Button>
      </div>
    </Dialog>
  );
}

/** What can be done with the definitions that are chosen. */
export function DefinitionsBulk({ selected, total, onDone, onPublished }: Props) {
  const [asked, setAsked] = useState<Asked>();
  const definitionIds = [...selected];
  const count = definitionIds.length;
  const act = async () => {
    if (asked === "publish") {
      const published = await publishAll(definitionIds, (ids) =>
        post<Api["Publications"]>(PUBLISH, { definitionIds: ids }),
      );
      if (published.left.length > 0) onPublished(published);
      else notify(t.definitions.publishedMany(published.done.length, count));
    } else if (asked === "retract") {
      const path = "/bulk-actions/retract/workflow-definitions/by-definition-ids";
      const answer = await post<Api["Retractions"]>(path, { definitionIds });
      notify(t.definitions.retractedMany(answer.retracted.length, count));
    } else {
      const path = "/bulk-actions/delete/workflow-definitions/by-definition-id";
      const answer = await post<Api["Deletions"]>(path, { definitionIds });
      notify(t.bulk.deleted(answer.deleted, count));
    }
    onDone();
  };
  return (
    <div className="flex min-h-10 flex-wrap items-center gap-2 border-b border-line px-3 py-1 text-sm">
      <span className="text-soft tabular-nums">
        {count ? t.bulk.chosen(count) : t.definitions.count(total, formatCount(total, language))}
      </span>
      {count > 0 && (
        <>
          {can("publish:workflow-definitions") && (
            <Button onClick={() => setAsked("publish")}>{t.deeds.publish}</Button>
          )}
          {can("retract:workflow-definitions") && (
            <Button onClick={() => setAsked("retract")}>{t.deeds.retract}</Button>
          )}
          <Button
            icon="download"
            onClick={() =>
              void download("/bulk-actions/export/workflow-definitions", "definitions.zip", {
                method: "POST",
                body: { definitionIds },
              }).catch(complain)
            }
          >
            {t.deeds.export}
          </Button>
          {can("delete:workflow-definitions") && (
            <Button tone="danger" onClick={() => setAsked("delete")}>
              {t.deeds.delete}
            </Button>
          )}
        </>
      )}
      {asked && (
        <Confirm
          title={t.definitions.titles[asked](count, count === 1 ? definitionIds[0] : undefined)}
          verb={t.definitions.titles[asked](count)}
          count={count}
          act={act}
          onClose={() => setAsked(undefined)}
        >
          <p>{t.definitions.consequences[asked]}</p>
          {asked !== "publish" && count === 1 && <Users definition={definitionIds[0] ?? ""} deed={asked} />}
          <CopyCommands commands={bulkLines(asked, definitionIds)} />
        </Confirm>
      )}
    </div>
  );
}
