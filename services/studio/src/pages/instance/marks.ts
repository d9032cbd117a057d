import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { id, post } from "../../api/client";
import { statsQuery } from "../../api/queries";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import type { Mark } from "../../graph/outline";
import { lengthsOf, useExecutions } from "./executions";

export type Marks = ReadonlyMap<string, Mark>;

function statusOf(stats: Api["ExecutionStats"], over: boolean): string {
  if (stats.isFaulted) return "Faulted";
  if (stats.isBlocked) return "Suspended";
  if (stats.completedCount > 0 && stats.uncompletedCount === 0) return "Completed";
  return over ? "Cancelled" : "Running";
}

const AFTER: Record<string, string> = {
  Started: "Running",
  Resumed: "Running",
  Suspended: "Suspended",
  Completed: "Completed",
  Faulted: "Faulted",
  Canceled: "Cancelled",
  Cancelled: "Cancelled",
};

/** What the lines of a journal, from the first one on, make of the activities. */
export function marksOf(lines: Pick<Api["JournalEntry"], "activityId" | "eventName">[]): Marks {
  const marks = new Map<string, Mark>();
  for (const { activityId, eventName } of lines) {
    const status = AFTER[eventName];
    if (!status) continue;
    const runs = (marks.get(activityId)?.runs ?? 0) + (eventName === "Started" ? 1 : 0);
    marks.set(activityId, { status, runs });
  }
  return marks;
}

/** The longest part of a journal that is read for a picture of the past. */
const LINES_MAX = 1000;

/** How far each activity came: now as the server counts, in the past as the journal says. */
export function useMarks(instance: string, over: boolean, at: number | undefined): Marks | undefined {
  const now = useQuery({ ...statsQuery(instance), enabled: can("read:activity-execution") });
  const past = useQuery({
    queryKey: ["instance", instance, "lines", at],
    enabled: at !== undefined && at <= LINES_MAX,
    placeholderData: keepPreviousData,
    queryFn: () =>
      post<Api["JournalPage"]>(`/workflow-instances/${id(instance)}/journal`, { skip: 0, take: at }),
  });
  const executions = useExecutions(instance).data;
  return useMemo(() => {
    if (at !== undefined && past.data) return marksOf(past.data.items);
    if (!now.data) return undefined;
    const runs = new Map(now.data.stats.map((one) => [one.activityId, one.startedCount]));
    const lengths = lengthsOf(executions?.pages.flatMap((page) => page.items) ?? [], runs);
    return new Map(
      now.data.stats.map((one) => [
        one.activityId,
        { status: statusOf(one, over), runs: one.startedCount, ms: lengths.get(one.activityId) },
      ]),
    );
  }, [now.data, past.data, executions, at, over]);
}
