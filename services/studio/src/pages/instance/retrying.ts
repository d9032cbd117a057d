import { get, id, json, post } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { formatCount } from "../../lib/format";
import { isOver, stateOf } from "../../lib/states";
import { language, t } from "../../text";
import { complain, notify } from "../../ui/notices";

type Detail = Api["InstanceDetail"];

/** What an incident is told apart by. */
export const keyOf = (incident: Api["Incident"]) => `${incident.activityNodeId} ${incident.timestamp}`;

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

const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));

/** Runs what failed again, and says what became of it; it fails where that fails again. */
export async function retry(instance: string, activityIds?: string[]): Promise<string> {
  const before = can("read:workflow-instances") ? await detailOf(instance) : undefined;
  const body = { workflowInstanceIds: [instance], activityIds };
  const { results } = await post<Api["AlterationResults"]>("/alterations/workflows/retry", body);
  const failed = results.find((one) => !one.isSuccessful);
  if (failed)
    throw new Error(failed.log.logEntries.map((line) => line.message).join(" ") || t.incidents.notRetried);
  for (let look = 0; before && look < LOOKS; look += 1) {
    await pause();
    const now = await detailOf(instance);
    if (!now) break;
    const outcome = outcomeOf(before, now);
    if (outcome.is === "failed") throw new Error(t.incidents.failedAgain(outcome.message));
    if (outcome.is === "over") return t.incidents.retriedOver;
  }
  return t.incidents.retried;
}

/** The most instances of a request; of more, nobody looks again. */
export const SEEN_MAX = 1000;

type Summary = Pick<Api["InstanceSummary"], "id" | "subStatus" | "incidentCount">;

/** What became of instances that were retried. */
export interface Seen {
  /** Those that have failed again. */
  again: string[];
  isRunning: boolean;
}

/**
 * What instances came to that were retried as a whole: then none has an incident at first. Where only one activity of
 * each was, the incidents from before say how many there were.
 */
export function seenIn(now: readonly Summary[], before: readonly Summary[] = []): Seen {
  const known = new Map(before.map((one) => [one.id, one.incidentCount]));
  const again = now.filter((one) => one.incidentCount >= Math.max(1, known.get(one.id) ?? 1));
  const isRunning = now.some(({ subStatus }) => ["pending", "running"].includes(stateOf(subStatus)));
  return { again: again.map((one) => one.id), isRunning };
}

/** At most `SEEN_MAX` of these instances. */
export async function summariesOf(ids: readonly string[], signal?: AbortSignal): Promise<Summary[]> {
  const body = { ids: ids.slice(0, SEEN_MAX), page: 0, pageSize: SEEN_MAX };
  const path = "/workflow-instances/query";
  return (await json<Api["InstancePage"]>(path, { method: "POST", body, signal })).items;
}

/** How many of those that were retried have failed again, in words. */
export function againWords(count: number, retried: number): string {
  const number = (value: number) => formatCount(value, language);
  return t.bulk.again(count, number(count), retried > SEEN_MAX ? number(SEEN_MAX) : undefined);
}

async function seenSoon(ids: readonly string[], before?: readonly Summary[]): Promise<Seen | undefined> {
  let seen: Seen | undefined;
  for (let look = 0; look < LOOKS && seen?.isRunning !== false; look += 1) {
    await pause();
    seen = seenIn(await summariesOf(ids), before);
  }
  return seen;
}

/** Runs what failed in many instances again, and says in a notice what became of it. */
export async function retryMany(ids: readonly string[], activityIds?: string[]): Promise<void> {
  const mayLook = can("read:workflow-instances");
  const before = mayLook && activityIds ? await summariesOf(ids).catch(() => undefined) : undefined;
  const retried: string[] = [];
  for (let at = 0; at < ids.length; at += SEEN_MAX) {
    const body = { workflowInstanceIds: ids.slice(at, at + SEEN_MAX), activityIds };
    const { results } = await post<Api["AlterationResults"]>("/alterations/workflows/retry", body);
    retried.push(...results.filter((one) => one.isSuccessful).map((one) => one.workflowInstanceId));
  }
  const said = t.bulk.retried(retried.length, ids.length);
  const isKnown = mayLook && retried.length > 0 && (!activityIds || before !== undefined);
  // Without an answer, nothing is known of the outcome.
  const seen = isKnown ? await seenSoon(retried, before).catch(() => undefined) : undefined;
  if (!seen || seen.again.length === 0) notify(said);
  else complain(new Error(`${said} ${againWords(seen.again.length, retried.length)}`));
}
