import { useState } from "react";
import { download, post } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { formatCount } from "../../lib/format";
import { language, t } from "../../text";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { complain, notify } from "../../ui/notices";

interface Props {
  selected: ReadonlySet<string>;
  total: number;
  onDone: () => void;
}

type Asked = "retract" | "delete";

/** What can be done with the definitions that are chosen. */
export function DefinitionsBulk({ selected, total, onDone }: Props) {
  const [asked, setAsked] = useState<Asked>();
  const definitionIds = [...selected];
  const count = definitionIds.length;
  const publish = async () => {
    const path = "/bulk-actions/publish/workflow-definitions/by-definition-ids";
    const answer = await post<Api["Publications"]>(path, { definitionIds });
    const problems = Object.values(answer.problems).flat();
    if (problems.length > 0) throw new Error(problems.join(" "));
    notify(t.definitions.publishedMany(answer.published.length, count));
    onDone();
  };
  const act = async () => {
    if (asked === "retract") {
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
            <Button onClick={() => void publish().catch(complain)}>{t.deeds.publish}</Button>
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
          title={t.definitions.titles[asked](count)}
          verb={t.definitions.titles[asked](count)}
          count={count}
          act={act}
          onClose={() => setAsked(undefined)}
        >
          <p>{t.definitions.consequences[asked]}</p>
        </Confirm>
      )}
    </div>
  );
}
