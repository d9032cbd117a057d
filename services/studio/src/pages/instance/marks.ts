import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { id, post } from "../../api/client";
import { statsQuery } from "../../api/queries";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import type { Mark } from "../../graph/outline";
import { type Execution, lengthsOf, useExecutions } from "./executions";
import { changesQuery, type Resolution, resolutionsOf, resolvedBy, withSkips } from "./resolutions";

export type Marks = ReadonlyMap<string, Mark>;

type Stats = Omit<Api["ExecutionStats"], "metadata">;

/**
 * What the server has counted of each activity makes its status. `ending` is the state of an instance that is over: it
 * ends what has no end of its own, with the fault where that is in it.
 */
export function statusesOf(stats: readonly Stats[], ending?: string): ReadonlyMap<string, string> {
  const faulted = stats.filter(({ isFaulted }) => isFaulted).map((one) => one.activityNodeId);
  const statusOf = (one: Stats) => {
    if (one.isFaulted) return "Faulted";
    if (one.isBlocked) return "Suspended";
    if (one.completedCount > 0 && one.uncompletedCount === 0) return "Completed";
    if (ending === undefined) return "Running";
    const holdsFault = faulted.some((node) => node.startsWith(`${one.activityNodeId}:`));
    return ending === "Faulted" && holdsFault ? "Faulted" : "Cancelled";
  };
  return new Map(stats.map((one) => [one.activityId, statusOf(one)]));
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

type Line = Pick<
  Api["JournalEntry"],
  "activityId" | "eventName" | "message" | "payload" | "sequence" | "timestamp"
>;

/** What the lines of a journal, from the first one on, make of the activities. */
export function marksOf(lines: Line[]): Marks {
  const marks = new Map<string, Mark>();
  const skipped = new Set<string | undefined>();
  for (const line of lines) {
    const { activityId, eventName } = line;
    for (const { way, activity } of resolvedBy(line)) if (way === "Skip") skipped.add(activity);
    const isSkip = eventName === "Completed" && skipped.delete(activityId);
    const status = isSkip ? "Skipped" : AFTER[eventName];
    if (!status) continue;
    const runs = (marks.get(activityId)?.runs ?? 0) + (eventName === "Started" ? 1 : 0);
    marks.set(activityId, { status, runs });
  }
  return marks;
}

/**
 * What became in the end of activities whose incidents were resolved by hand: the executions that failed before count
 * no more.
 */
export function endsOf(
  executions: readonly Execution[],
  resolutions: readonly Resolution[],
): ReadonlyMap<string, string> {
  const mended = new Set(resolutions.map(({ activity }) => activity));
  const last = new Map(withSkips(executions, resolutions).map((one) => [one.activityId, one.status]));
  return new Map(
    [...last].filter(
      ([activity, status]) => mended.has(activity) && (status === "Completed" || status === "Skipped"),
    ),
  );
}

/** The longest part of a journal that is read for a picture of the past. */
export const LINES_MAX = 1000;

/**
 * How far each activity came: now as the server counts, in the past as the journal says. `ending` is the state of the
 * instance, if it is over.
 */
export function useMarks(
  instance: string,
  ending: string | undefined,
  at: number | undefined,
): Marks | undefined {
  const now = useQuery({ ...statsQuery(instance), enabled: can("read:activity-execution") });
  const past = useQuery({
    queryKey: ["instance", instance, "lines", at],
    enabled: at !== undefined && at <= LINES_MAX,
    placeholderData: keepPreviousData,
    queryFn: () =>
      post<Api["JournalPage"]>(`/workflow-instances/${id(instance)}/journal`, { skip: 0, take: at }),
  });
  const executions = useExecutions(instance).data;
  const changes = useQuery(changesQuery(instance)).data;
  return useMemo(() => {
    if (at !== undefined && past.data) return marksOf(past.data.items);
    if (!now.data) return undefined;
    const runs = new Map(now.data.stats.map((one) => [one.activityId, one.startedCount]));
    const known = executions?.pages.flatMap((page) => page.items) ?? [];
    const lengths = lengthsOf(known, runs);
    const ends = endsOf(known, resolutionsOf(changes?.items ?? []));
    const statuses = statusesOf(now.data.stats, ending);
    return new Map(
      now.data.stats.map((one) => [
        one.activityId,
        {
          status: ends.get(one.activityId) ?? statuses.get(one.activityId) ?? "Running",
          runs: one.startedCount,
          ms: lengths.get(one.activityId),
        },
      ]),
    );
  }, [now.data, past.data, executions, changes, at, ending]);
}
