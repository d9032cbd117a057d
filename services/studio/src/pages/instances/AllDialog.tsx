import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { json, post } from "../../api/client";
import type { Api } from "../../api/types";
import { type InstanceFilter, toCountRequest, toPlanFilter } from "../../lib/filters";
import { formatCount } from "../../lib/format";
import { type Removed, removeAll } from "../../lib/removal";
import { language, t } from "../../text";
import { CopyCommands } from "../../ui/Code";
import { Confirm } from "../../ui/Dialog";
import { notify } from "../../ui/notices";
import { Progress } from "../../ui/Progress";
import { Failed } from "../../ui/States";
import { allLines } from "./lines";
import { TOTAL_MAX } from "./trail";

export type DeedForAll = "cancelAll" | "retryAll" | "deleteAll";

const number = (count: number) => formatCount(count, language);

async function submit(deed: "cancelAll" | "retryAll", filter?: Api["PlanFilter"]): Promise<string> {
  const alterations = [{ type: deed === "cancelAll" ? "Cancel" : "Retry" }];
  return (await post<Api["Submitted"]>("/alterations/submit", { filter, alterations })).planId;
}

const remove = (filter?: Api["PlanFilter"]) =>
  post<Api["FilteredDeletions"]>("/bulk-actions/delete/workflow-instances/by-filter", filter);

/** Asks before something is done to all instances that match, with their number; a deletion shows how far it is. */
export function AllDialog({
  deed,
  filter,
  versionId,
  onDone,
  onPlan,
  onClose,
}: {
  deed: DeedForAll;
  filter: InstanceFilter;
  versionId?: string;
  onDone: () => void;
  onPlan: (id: string) => void;
  onClose: () => void;
}) {
  // What was counted is what is changed, also where `since` goes with the time.
  const [now] = useState(Date.now);
  const [removed, setRemoved] = useState<Removed>();
  const isStopped = useRef(false);
  useEffect(() => {
    isStopped.current = false;
    return () => {
      isStopped.current = true;
    };
  }, []);
  const counting = useQuery({
    // No live count: what is asked for stays what it was when one asked.
    queryKey: ["asked", filter, now],
    queryFn: ({ signal }) =>
      json<Api["InstancePage"]>("/workflow-instances/query", {
        method: "POST",
        body: toCountRequest(filter, now),
        signal,
      }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const count = counting.data?.totalCount;
  const isMore = count !== undefined && count >= TOTAL_MAX;
  const shown = count === undefined ? "…" : `${number(count)}${isMore ? "+" : ""}`;
  const planned = toPlanFilter(filter, now, versionId);
  const act = async () => {
    if (deed !== "deleteAll") return onPlan(await submit(deed, planned));
    const ended = await removeAll(
      () => remove(planned),
      setRemoved,
      () => isStopped.current,
    ).finally(onDone);
    notify(t.bulk.removed(number(ended.done), number(ended.left)));
  };
  return (
    <Confirm
      title={t.bulk.titles[deed](shown)}
      verb={t.bulk.titles[deed](shown)}
      count={count}
      isMore={isMore}
      disabled={!count}
      act={act}
      onClose={onClose}
    >
      <p>{t.bulk.consequences[deed]}</p>
      {isMore && <p>{t.bulk.uncounted(number(TOTAL_MAX))}</p>}
      {planned && <CopyCommands commands={allLines(deed, planned)} />}
      {counting.error && <Failed error={counting.error} retry={() => void counting.refetch()} />}
      {removed && (
        <div className="space-y-1">
          <Progress
            label={t.plan.progress}
            done={removed.done}
            total={Math.max(removed.done + removed.left, count ?? 0)}
          />
          <p role="status" className="text-xs text-soft tabular-nums">
            {t.bulk.removed(number(removed.done), number(removed.left))}
          </p>
        </div>
      )}
    </Confirm>
  );
}
