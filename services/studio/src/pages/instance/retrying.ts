import { get, id, post } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { isOver } from "../../lib/states";
import { t } from "../../text";

type Detail = Api["InstanceDetail"];

/** What an incident is told apart by. */
const keyOf = (incident: Api["Incident"]) => `${incident.activityNodeId} ${incident.timestamp}`;

export type Outcome = { is: "failed"; message: string } | { is: "over" } | { is: "running" };

/** What became of a retry: one that fails again has an incident that was not there before. */
export function outcomeOf(before: Detail, now: Detail): Outcome {
  const known = new Set(before.workflowState.incidents.map(keyOf));
  const { incidents } = now.workflowState;
  const again = incidents.find((one) => !known.has(keyOf(one)));
  if (again) return { is: "failed", message: again.message };
  const isOld = incidents.some((one) => known.has(keyOf(one)));
  return isOver(now.subStatus) && !isOld ? { is: "over" } : { is: "running" };
}

/** How often one looks what became of it, and how long one waits in between. */
const LOOKS = 6;
const PAUSE_MS = 300;

/** The instance now; without it, nothing is known of the outcome. */
const detailOf = (instance: string): Promise<Detail | undefined> =>
  get<Detail>(`/workflow-instances/${id(instance)}`).catch(() => undefined);

/** Runs what failed again, and says what became of it; it fails where that fails again. */
export async function retry(instance: string, activityIds?: string[]): Promise<string> {
  const before = can("read:workflow-instances") ? await detailOf(instance) : undefined;
  const body = { workflowInstanceIds: [instance], activityIds };
  const { results } = await post<Api["AlterationResults"]>("/alterations/workflows/retry", body);
  const failed = results.find((one) => !one.isSuccessful);
  if (failed)
    throw new Error(failed.log.logEntries.map((line) => line.message).join(" ") || t.incidents.notRetried);
  for (let look = 0; before && look < LOOKS; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    const now = await detailOf(instance);
    if (!now) break;
    const outcome = outcomeOf(before, now);
    if (outcome.is === "failed") throw new Error(t.incidents.failedAgain(outcome.message));
    if (outcome.is === "over") return t.incidents.retriedOver;
  }
  return t.incidents.retried;
}
