import { queryOptions } from "@tanstack/react-query";
import { id, post } from "../../api/client";
import type { Api } from "../../api/types";
import type { Execution } from "./executions";

/** The most changes by hand that are read of one journal. */
const CHANGES_MAX = 1000;

/** What was changed by hand in an instance, as its journal says. */
export const changesQuery = (instance: string) =>
  queryOptions({
    queryKey: ["instance", instance, "changes"],
    queryFn: () =>
      post<Api["JournalPage"]>(`/workflow-instances/${id(instance)}/journal`, {
        skip: 0,
        take: CHANGES_MAX,
        filter: { eventNames: ["Altered"] },
      }),
  });

type Change = Pick<Api["JournalEntry"], "eventName" | "message" | "payload" | "sequence" | "timestamp">;

/** How an incident is resolved by hand. */
export type Way = "Retry" | "Skip";

/** An incident that is none any more: where it was, and what was done about it. */
export interface Resolution {
  key: string;
  way: Way;
  at: string;
  /** None for an incident of the instance as a whole. */
  activity?: string;
  message?: string;
}

const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);
const isWay = (word: unknown): word is Way => word === "Retry" || word === "Skip";

/** The incidents that a line of the journal resolved. */
export function resolvedBy({ eventName, message, payload, sequence, timestamp }: Change): Resolution[] {
  if (eventName !== "Altered" || !isWay(message)) return [];
  const { activities } = (payload ?? {}) as { activities?: unknown };
  if (!Array.isArray(activities)) return [];
  return activities.map(
    (one: { activityId?: unknown; incident?: unknown } | null, at): Resolution => ({
      key: `${sequence}.${at}`,
      way: message,
      at: timestamp,
      activity: textOf(one?.activityId),
      message: textOf(one?.incident),
    }),
  );
}

export const resolutionsOf = (lines: readonly Change[]): Resolution[] => lines.flatMap(resolvedBy);

/** How an incident was resolved that is none any more; none where that was not by hand, or is not known yet. */
export function wayOf(
  resolutions: readonly Resolution[],
  { activityId, timestamp }: Pick<Api["Incident"], "activityId" | "timestamp">,
): Way | undefined {
  const isLater = ({ activity, at }: Resolution) =>
    activity === activityId && Date.parse(at) >= Date.parse(timestamp);
  return resolutions.find(isLater)?.way;
}

/** Executions, with those that ended because their activity was skipped told from those that completed. */
export function withSkips(
  executions: readonly Execution[],
  resolutions: readonly Resolution[],
): readonly Execution[] {
  const skips = new Set(
    resolutions
      .filter(({ way }) => way === "Skip")
      .map(({ activity, at }) => `${activity} ${Date.parse(at)}`),
  );
  if (skips.size === 0) return executions;
  return executions.map((one) =>
    one.completedAt && skips.has(`${one.activityId} ${Date.parse(one.completedAt)}`)
      ? { ...one, status: "Skipped" }
      : one,
  );
}
