import type { Api } from "../../api/types";

/** How a change of many instances ended. */
export type PlanEnd =
  | { key: "succeeded" | "failed"; all: number }
  | { key: "partly"; failed: number; all: number }
  /** A retry that was applied: what it comes to is another matter. */
  | { key: "retried"; all: number }
  | { key: "again"; again: number; failed: number; all: number }
  /** Somebody stopped it; `left` of them were not begun. */
  | { key: "stopped"; left: number; all: number }
  | { key: "empty" | "broken" };

type Seen = Pick<Api["PlanSeen"], "plan" | "progress">;

/** Whether a plan runs again what failed. Its jobs are done as soon as that is begun. */
export const isRetry = ({ plan }: Seen): boolean => plan.alterations.some(({ type }) => type === "Retry");

/**
 * How a plan ended; nothing while it goes on. The server calls it completed whatever its jobs came to. `again` is how
 * many of the instances that it retried have failed again.
 */
export function endOf(seen: Seen, again = 0): PlanEnd | undefined {
  const { plan, progress } = seen;
  if (!plan.completedAt) return undefined;
  if (plan.status === "Failed") return { key: "broken" };
  const { completed, failed, running, pending } = progress;
  const all = completed + failed + running + pending;
  if (all === 0) return { key: "empty" };
  if (pending > 0) return { key: "stopped", left: pending, all };
  if (again > 0) return { key: "again", again, failed, all };
  if (failed === 0) return { key: isRetry(seen) ? "retried" : "succeeded", all };
  return failed === all ? { key: "failed", all } : { key: "partly", failed, all };
}

/** The colour of each end. */
export const TONES = {
  succeeded: "good",
  retried: "good",
  again: "warn",
  partly: "warn",
  failed: "bad",
  stopped: "warn",
  empty: "plain",
  broken: "bad",
} as const satisfies Record<PlanEnd["key"], string>;
