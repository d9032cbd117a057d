import { t } from "../text";

/** One state, one colour, one icon, one word. */
export type State =
  | "pending"
  | "running"
  | "waiting"
  | "finished"
  | "faulted"
  | "cancelled"
  /** It failed, and was skipped by hand. */
  | "passedOver"
  /** No way led there. */
  | "skipped";

const STATE_OF: Record<string, State> = {
  Pending: "pending",
  Executing: "running",
  Running: "running",
  Started: "running",
  Suspended: "waiting",
  Finished: "finished",
  Completed: "finished",
  Faulted: "faulted",
  Cancelled: "cancelled",
  Canceled: "cancelled",
  Skipped: "passedOver",
};

export function stateOf(status: string): State {
  return STATE_OF[status] ?? "skipped";
}

export function stateWord(status: string): string {
  return t.states[stateOf(status)];
}

export function isOver(status: string): boolean {
  return ["finished", "cancelled", "faulted"].includes(stateOf(status));
}

/** Whether its values and its version can change: a faulted instance can be retried. */
export function canChange(status: string): boolean {
  return !isOver(status) || stateOf(status) === "faulted";
}
