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

/** What became of something that was sent, in words, and whether it is kept until it can be taken. */
export interface Outcome {
  word: string;
  isKept: boolean;
}

/** What becomes of something that is accepted only. */
export function acceptedOutcome({ isPaused, calls }: State, bookmark: string): Outcome {
  // Only the answer of the call goes on from there.
  if (calls?.some((call) => call.bookmarkId === bookmark)) return { word: t.waits.calls, isKept: false };
  return { word: isPaused ? t.waits.kept : t.waits.accepted, isKept: true };
}

type Change = Api["InstanceDetail"]["updatedAt"];

/** The bookmarks for which something is kept, each with the last change of its instance before that was sent. */
const kept = new Map<string, Change>();

const keyOf = (instance: string, bookmark: string) => `${instance}/${bookmark}`;

/** Notes that something is kept for a bookmark; the page that shows it may come and go. */
export function keepFor(instance: string, bookmark: string, change: Change): void {
  kept.set(keyOf(instance, bookmark), change);
}

/** Whether something is kept for a bookmark: nobody knows that any more once the instance has changed. */
export function isKeptFor(instance: string, bookmark: string, change: Change): boolean {
  const key = keyOf(instance, bookmark);
  if (kept.get(key) === change) return true;
  kept.delete(key);
  return false;
}

/** Sends to where an instance waits, and says what became of it; it fails where the instance waits there no longer. */
export async function deliver(
  path: string,
  body: unknown,
  taken = t.waits.taken,
  accepted: Outcome = { word: t.waits.accepted, isKept: true },
): Promise<Outcome> {
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
  return reception === "taken" ? { word: taken, isKept: false } : accepted;
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
