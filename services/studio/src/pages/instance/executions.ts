import { useInfiniteQuery } from "@tanstack/react-query";
import { get } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";

export type Execution = Api["ExecutionSummary"];

const PAGE = 200;

/** The executions of the activities of an instance, in the order in which they began, as many as one has asked for. */
export function useExecutions(instance: string) {
  return useInfiniteQuery({
    queryKey: ["instance", instance, "executions"],
    enabled: can("read:activity-execution"),
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) =>
      get<Api["Listed_ExecutionSummary"]>(
        "/activity-execution-summaries/list",
        { workflowInstanceId: instance, page: pageParam, pageSize: PAGE },
        signal,
      ),
    getNextPageParam: (last, pages) => (pages.length * PAGE < last.count ? pages.length : undefined),
  });
}

/** Younger browsers have this as `Map.groupBy`. */
function grouped(executions: readonly Execution[], member: "activityId" | "activityNodeId") {
  const groups = new Map<string, Execution[]>();
  for (const one of executions) {
    const group = groups.get(one[member]);
    if (group) group.push(one);
    else groups.set(one[member], [one]);
  }
  return groups;
}

const lengthOf = ({ startedAt, completedAt }: Execution) =>
  completedAt ? Date.parse(completedAt) - Date.parse(startedAt) : undefined;

/** How long the last execution of each activity took, where all of its executions are known and over. */
export function lengthsOf(executions: readonly Execution[], runs: ReadonlyMap<string, number>) {
  const known = grouped(executions, "activityId");
  const lengths = new Map<string, number>();
  for (const [activity, all] of known) {
    const last = all.at(-1);
    const length = last && lengthOf(last);
    if (length !== undefined && all.length === runs.get(activity)) lengths.set(activity, length);
  }
  return lengths;
}

export interface Bar {
  id: string;
  /** Its begin and its length, as parts of the whole. */
  at: number;
  length: number;
  status: string;
  /** It waits, or waited: an activity without others in it takes no time of its own between two bursts. */
  isWait: boolean;
}

export interface Lane {
  node: string;
  activity: string;
  name: string | null | undefined;
  type: string;
  depth: number;
  bars: Bar[];
  /** The status of the last execution. */
  status: string;
  milliseconds: number;
}

export interface Timeline {
  from: number;
  to: number;
  lanes: Lane[];
}

/**
 * What became of an execution. The end of the instance ends one that has no end of its own: with the fault, if that is
 * in it.
 */
function statusOf(
  { status, hasBookmarks }: Execution,
  ending: string | undefined,
  holdsFault: boolean,
): string {
  if (status !== "Running") return status;
  if (ending !== undefined) return ending === "Faulted" && holdsFault ? "Faulted" : "Cancelled";
  return hasBookmarks ? "Suspended" : status;
}

/**
 * A lane for each activity, in the order in which they began, with a bar for each of its executions.
 * `end` is the end of the instance, or now; `ending` is its state, if it is over.
 */
export function timelineOf(executions: readonly Execution[], end: number, ending?: string): Timeline {
  const endOf = (one: Execution) => (one.completedAt ? Date.parse(one.completedAt) : end);
  const from = Math.min(...executions.map((one) => Date.parse(one.startedAt)));
  const to = Math.max(from + 1, ...executions.map(endOf));
  const part = (milliseconds: number) => Math.min(1, Math.max(0, milliseconds / (to - from)));
  const outer = new Set(
    executions.map((one) => one.activityNodeId.slice(0, one.activityNodeId.lastIndexOf(":"))),
  );
  const nodes = grouped(executions, "activityNodeId");
  const faulted = [...nodes].filter(([, all]) => all.at(-1)?.status === "Faulted").map(([node]) => node);
  const lanes = [...nodes].flatMap(([node, all]): Lane[] => {
    const [first] = all;
    if (!first) return [];
    const holdsFault = faulted.some((one) => one.startsWith(`${node}:`));
    const bars = all.map((one): Bar => {
      const length = Math.max(0, endOf(one) - Date.parse(one.startedAt));
      return {
        id: one.id,
        at: part(Date.parse(one.startedAt) - from),
        length: part(length),
        status: statusOf(one, ending, holdsFault),
        isWait: !outer.has(node) && length > 0,
      };
    });
    return [
      {
        node,
        activity: first.activityId,
        name: first.activityName,
        type: first.activityType,
        depth: node.split(":").length - 1,
        bars,
        status: bars.at(-1)?.status ?? first.status,
        milliseconds: all.reduce((sum, one) => sum + Math.max(0, endOf(one) - Date.parse(one.startedAt)), 0),
      },
    ];
  });
  return { from, to, lanes };
}
