import { useState } from "react";
import { download, post } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { type InstanceFilter, toPlanFilter } from "../../lib/filters";
import { formatCount } from "../../lib/format";
import { language, t } from "../../text";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { complain, notify } from "../../ui/notices";
import { TOTAL_MAX } from "./trail";

interface Props {
  selected: ReadonlySet<string>;
  total: number;
  filter: InstanceFilter;
  onDone: () => void;
  onPlan: (id: string) => void;
}

type Deed = "cancel" | "retry" | "delete" | "cancelAll" | "retryAll";

const CHUNK = 1000;

/** Sends ids in parts that the API takes, and adds up what it answers. */
async function inParts(ids: string[], part: (ids: string[]) => Promise<number>): Promise<number> {
  let done = 0;
  for (let at = 0; at < ids.length; at += CHUNK) done += await part(ids.slice(at, at + CHUNK));
  return done;
}

async function act(deed: "cancel" | "retry" | "delete", ids: string[]): Promise<string> {
  if (deed === "cancel") {
    const done = await inParts(ids, async (part) => {
      const answer = await post<Api["Cancellations"]>("/bulk-actions/cancel/workflow-instances", {
        ids: part,
      });
      return answer.cancelled;
    });
    return t.bulk.cancelled(done, ids.length);
  }
  if (deed === "delete") {
    const done = await inParts(ids, async (part) => {
      const answer = await post<Api["Deletions"]>("/bulk-actions/delete/workflow-instances", { ids: part });
      return answer.deleted;
    });
    return t.bulk.deleted(done, ids.length);
  }
  const answer = await post<Api["AlterationResults"]>("/alterations/workflows/retry", {
    workflowInstanceIds: ids,
  });
  return t.bulk.retried(answer.results.filter((one) => one.isSuccessful).length, ids.length);
}

async function submit(deed: Deed, filter: InstanceFilter): Promise<string> {
  const planned = toPlanFilter(filter, Date.now());
  const alteration = deed === "cancelAll" ? { type: "Cancel" } : { type: "Retry" };
  const answer = await post<Api["Submitted"]>("/alterations/submit", {
    filter: planned,
    alterations: [alteration],
  });
  return answer.planId;
}

/** What can be done with the rows that are chosen, or with all that match. */
export function BulkBar({ selected, total, filter, onDone, onPlan }: Props) {
  const [asked, setAsked] = useState<Deed>();
  const ids = [...selected];
  const numberOf = (count: number) => `${formatCount(count, language)}${count >= TOTAL_MAX ? "+" : ""}`;
  const forAll = toPlanFilter(filter, Date.now()) !== undefined && can("run:alterations");
  const count = asked === "cancelAll" || asked === "retryAll" ? total : ids.length;
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
      {ids.length === 0 && forAll && (
        <>
          {can("cancel:workflow-instances") && (
            <Button tone="quiet" onClick={() => setAsked("cancelAll")}>
              {t.bulk.cancelAll}
            </Button>
          )}
          <Button tone="quiet" onClick={() => setAsked("retryAll")}>
            {t.bulk.retryAll}
          </Button>
        </>
      )}
      {asked && (
        <Confirm
          title={t.bulk.titles[asked](numberOf(count))}
          verb={t.bulk.titles[asked](numberOf(count))}
          count={asked === "retry" ? undefined : count}
          act={async () => {
            if (asked === "cancelAll" || asked === "retryAll") onPlan(await submit(asked, filter));
            else {
              notify(await act(asked, ids));
              onDone();
            }
          }}
          onClose={() => setAsked(undefined)}
        >
          <p>{t.bulk.consequences[asked]}</p>
        </Confirm>
      )}
    </div>
  );
}
