import type { Api } from "../../api/types";
import { activitiesIn, type Members, text, titlesOf } from "../../graph/activities";
import type { TypeWords } from "../../graph/words";

/** An activity at which an instance is, and which another version has not, or with another type. */
export interface Unplaced {
  id: string;
  name: string;
  /** The activities of its type there, by id and name: those that are new there come first. */
  places: [id: string, name: string][];
}

/** Types of Elsa are written with and without its name. */
const typeOf = (activity: Members) => text(activity.type).replace(/^Elsa\./, "");

/** The activities at which an instance is: they run, wait, come next, or have failed. */
export function heldBy(state: Api["WorkflowState"]): string[] {
  const running = state.activityExecutionContexts.map((one) => one.activityId);
  const next = state.scheduledActivities.map((one) => one.activityId ?? "");
  // An instance that an incident has ended says only where it failed.
  const failed = state.subStatus === "Faulted" ? state.incidents.map((one) => one.activityId) : [];
  return [...new Set([...running, ...next, ...failed])];
}

/** What has to be told before an instance can go on in another version: the places of these activities. */
export function unplaced(
  held: readonly string[],
  root: unknown,
  target: unknown,
  words?: TypeWords,
): Unplaced[] {
  const here = activitiesIn(root);
  const there = activitiesIn(target);
  const [titles, titlesThere] = [titlesOf(here, words), titlesOf(there, words)];
  return held.flatMap((id): Unplaced[] => {
    const activity = here.get(id);
    // One inside of a workflow that is used as an activity is no part of the definition itself.
    if (!activity) return [];
    const type = typeOf(activity);
    const same = there.get(id);
    if (same && typeOf(same) === type) return [];
    const fitting = [...there].filter(([, one]) => typeOf(one) === type);
    const places = fitting.map(([other]): [string, string] => [other, titlesThere.get(other) ?? other]);
    places.sort(([one], [other]) => Number(here.has(one)) - Number(here.has(other)));
    return [{ id, name: titles.get(id) ?? id, places }];
  });
}

/** Whether an activity has no place yet that could have one: the answer of the server is then a question. */
export const isOpen = (missing: readonly Unplaced[], chosen: Readonly<Record<string, string>>): boolean =>
  missing.some(({ id, places }) => places.length > 0 && !chosen[id]);

/** The map of a migration: what was chosen for activities that need a place; nothing where none does. */
export function mapOf(
  missing: readonly Unplaced[],
  chosen: Readonly<Record<string, string>>,
): Record<string, string> | undefined {
  const entries = missing.flatMap(({ id, places }): [string, string][] => {
    const place = chosen[id];
    return place && places.some(([one]) => one === place) ? [[id, place]] : [];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}
