import type { Api } from "../../api/types";

/** How a change of many instances ended. */
export type PlanEnd =
  | { key: "succeeded" | "failed"; all: number }
  | { key: "partly"; failed: number; all: number }
  | { key: "empty" | "broken" };

/** How a plan ended; nothing while it goes on. The server calls it completed whatever its jobs came to. */
export function endOf({ plan, progress }: Pick<Api["PlanSeen"], "plan" | "progress">): PlanEnd | undefined {
  if (!plan.completedAt) return undefined;
  if (plan.status === "Failed") return { key: "broken" };
  const { completed, failed, running, pending } = progress;
  const all = completed + failed + running + pending;
  if (all === 0) return { key: "empty" };
  if (failed === 0) return { key: "succeeded", all };
  return failed === all ? { key: "failed", all } : { key: "partly", failed, all };
}

/** The colour of each end. */
export const TONES = {
  succeeded: "good",
  partly: "warn",
  failed: "bad",
  empty: "plain",
  broken: "bad",
} as const satisfies Record<PlanEnd["key"], string>;
