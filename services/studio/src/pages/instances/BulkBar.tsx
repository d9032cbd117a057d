import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { download, post } from "../../api/client";
import { versionsQuery } from "../../api/queries";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { type InstanceFilter, toPlanFilter } from "../../lib/filters";
import { formatCount } from "../../lib/format";
import { language, t } from "../../text";
import { Button } from "../../ui/Button";
import { CopyCommands } from "../../ui/Code";
import { Confirm } from "../../ui/Dialog";
import { complain, notify } from "../../ui/notices";
import { retryMany } from "../instance/retrying";
import { AllDialog, type DeedForAll } from "./AllDialog";
import { manyLines } from "./lines";
import { TOTAL_MAX } from "./trail";

interface Props {
  selected: ReadonlySet<string>;
  total: number;
  filter: InstanceFilter;
  /** The list follows all that the address asks for: only then are all that match those that are meant. */
  isRead: boolean;
  onDone: () => void;
  onPlan: (id: string) => void;
}

type Deed = "cancel" | "retry" | "delete";

const CHUNK = 1000;

/** Sends ids in parts that the API takes, and adds up what it answers. */
async function inParts(ids: string[], part: (ids: string[]) => Promise<number>): Promise<number> {
  let done = 0;
  for (let at = 0; at < ids.length; at += CHUNK) done += await part(ids.slice(at, at + CHUNK));
  return done;
}

async function act(deed: "cancel" | "delete", ids: string[]): Promise<string> {
  if (deed === "cancel") {
    const done = await inParts(ids, async (part) => {
      const answer = await post<Api["Cancellations"]>("/bulk-actions/cancel/workflow-instances", {
        ids: part,
      });
      return answer.cancelled;
    });
    return t.bulk.cancelled(done, ids.length);
  }
  const done = await inParts(ids, async (part) => {
    const answer = await post<Api["Deletions"]>("/bulk-actions/delete/workflow-instances", { ids: part });
    return answer.deleted;
  });
  return t.bulk.deleted(done, ids.length);
}

/** What can be done with the rows that are chosen, or with all that match. */
export function BulkBar({ selected, total, filter, isRead, onDone, onPlan }: Props) {
  const [asked, setAsked] = useState<Deed>();
  const [forAll, setForAll] = useState<DeedForAll>();
  const ids = [...selected];
  const isVersion = filter.version !== undefined && filter.definition !== undefined;
  const versions = useQuery({ ...versionsQuery(filter.definition ?? ""), enabled: isVersion }).data;
  const versionId = versions?.find(({ version }) => isVersion && version === filter.version)?.id;
  const canAll = isRead && toPlanFilter(filter, Date.now(), versionId) !== undefined;
  const numberOf = (count: number) => `${formatCount(count, language)}${count >= TOTAL_MAX ? "+" : ""}`;
  return (
    <div className="flex min-h-10 flex-wrap items-center gap-2 border-b border-line px-3 py-1 text-sm">
      <span className="text-soft tabular-nums">
        {ids.length ? t.bulk.chosen(ids.length) : t.bulk.matching(numberOf(total))}
      </span>
      {ids.length > 0 && (
        <>
          {can("cancel:workflow-instances") && (
            <Button onClick={() => setAsked("cancel")}>{t.deeds.cancel}</Button>
          )}
          {can("run:alterations") && <Button onClick={() => setAsked("retry")}>{t.deeds.retry}</Button>}
          <Button
            icon="download"
            onClick={() =>
              void download("/bulk-actions/export/workflow-instances", "instances.zip", {
                method: "POST",
                body: { ids },
              }).catch(complain)
            }
          >
            {t.deeds.export}
          </Button>
          {can("delete:workflow-instances") && (
            <Button tone="danger" onClick={() => setAsked("delete")}>
              {t.deeds.delete}
            </Button>
          )}
        </>
      )}
      {ids.length === 0 && canAll && (
        <>
          {can("run:alterations") && can("cancel:workflow-instances") && (
            <Button tone="quiet" onClick={() => setForAll("cancelAll")}>
              {t.bulk.cancelAll}
            </Button>
          )}
          {can("run:alterations") && (
            <Button tone="quiet" onClick={() => setForAll("retryAll")}>
              {t.bulk.retryAll}
            </Button>
          )}
          {can("delete:workflow-instances") && (
            <Button tone="quiet" onClick={() => setForAll("deleteAll")}>
              {t.bulk.deleteAll}
            </Button>
          )}
        </>
      )}
      {forAll && (
        <AllDialog
          deed={forAll}
          filter={filter}
          versionId={versionId}
          onDone={onDone}
          onPlan={onPlan}
          onClose={() => setForAll(undefined)}
        />
      )}
      {asked && (
        <Confirm
          title={t.bulk.titles[asked](numberOf(ids.length))}
          verb={t.bulk.titles[asked](numberOf(ids.length))}
          count={asked === "retry" ? undefined : ids.length}
          act={async () => {
            if (asked === "retry") await retryMany(ids);
            else notify(await act(asked, ids));
            onDone();
          }}
          onClose={() => setAsked(undefined)}
        >
          <p>{t.bulk.consequences[asked]}</p>
          <CopyCommands commands={manyLines(asked, ids)} />
        </Confirm>
      )}
    </div>
  );
}
