import { id, send } from "../../api/client";
import { Problem } from "../../api/problem";
import type { Api } from "../../api/types";
import { isObject } from "../../lib/json";
import { t } from "../../text";

/** What became of something that was sent to where an instance waits. */
export type Reception = "taken" | "accepted" | "late";

/**
 * What an answer says. A task for which nothing waits is answered with the task alone: its report is kept for one that
 * may still come, but here it was waited for a moment ago.
 */
export function receptionOf(status: number, body: unknown): Reception {
  if (status === 404 || status === 409) return "late";
  if (status !== 202) return "taken";
  return isObject(body) && typeof body.taskId === "string" ? "late" : "accepted";
}

/** What is known of an instance as something is sent to it. */
type State = Pick<Api["InstanceDetail"]["workflowState"], "calls" | "isPaused">;

/** What becomes of something that is accepted only. */
export function acceptedWord({ isPaused, calls }: State, bookmark: string): string {
  // Only the answer of the call goes on from there.
  if (calls?.some((call) => call.bookmarkId === bookmark)) return t.waits.calls;
  return isPaused ? t.waits.kept : t.waits.accepted;
}

/** Sends to where an instance waits, and says what became of it; it fails where the instance waits there no longer. */
export async function deliver(
  path: string,
  body: unknown,
  taken = t.waits.taken,
  accepted = t.waits.accepted,
): Promise<string> {
  let reception: Reception;
  try {
    const answer = await send(path, { method: "POST", body });
    const text = await answer.text();
    reception = receptionOf(answer.status, text ? JSON.parse(text) : undefined);
  } catch (error) {
    if (!(error instanceof Problem) || receptionOf(error.status, error.body) !== "late") throw error;
    reception = "late";
  }
  if (reception === "late") throw new Error(t.waits.late);
  return reception === "taken" ? taken : accepted;
}

/** An event for the one execution that waits for it: of two that are sent at once, one is taken, and the other is told. */
export const eventFor = (
  instance: string,
  execution: string,
  input: Api["EventRequest"]["input"],
): Api["EventRequest"] => ({
  workflowInstanceId: instance,
  activityInstanceId: execution,
  workflowExecutionMode: "Synchronous",
  input,
});

export const eventPath = (name: string): string => `/events/${id(name)}/trigger`;
