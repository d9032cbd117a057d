import type { Api } from "../../api/types";
import type { Search } from "../../lib/filters";
import { type Marks, marksOf } from "./marks";

type Then = Pick<Api["StateThen"], "variables" | "containers">;
type Line = Pick<
  Api["JournalEntry"],
  "activityId" | "eventName" | "message" | "outputs" | "payload" | "sequence" | "timestamp"
>;

/** A value at the two points; `undefined` where there was none. */
export interface Difference {
  name: string;
  /** The activity that it belongs to, if it is not the workflow's own. */
  activity?: string;
  before: unknown;
  after: unknown;
}

/** How far an activity was at the two points; `undefined` where it had not begun. */
export interface Moved {
  activity: string;
  before?: { status: string; runs: number };
  after?: { status: string; runs: number };
}

/** The two points that an address compares, the earlier one first; nothing where it compares none. */
export function pointsOf(search: Search, last: number): readonly [number, number] | undefined {
  const read = (text: string | undefined) =>
    text !== undefined && /^\d{1,9}$/.test(text) ? Math.min(Math.max(Number(text), 1), last) : undefined;
  const from = read(search.from);
  if (from === undefined || last < 1) return undefined;
  const to = read(search.at) ?? last;
  return from <= to ? [from, to] : [to, from];
}

interface Held {
  name: string;
  activity?: string;
  value: unknown;
}

/** The values that are not the same; what is only in one of both is a difference, too. */
function differencesOf(before: ReadonlyMap<string, Held>, after: ReadonlyMap<string, Held>): Difference[] {
  const keys = [...new Set([...before.keys(), ...after.keys()])];
  return keys.flatMap((key) => {
    const [was, is] = [before.get(key), after.get(key)];
    const one = is ?? was;
    if (!one || JSON.stringify(was?.value) === JSON.stringify(is?.value)) return [];
    return [{ name: one.name, activity: one.activity, before: was?.value, after: is?.value }];
  });
}

function variablesIn({ variables, containers }: Then): ReadonlyMap<string, Held> {
  const held = (place: string, values: Record<string, unknown>, activity?: string) =>
    Object.entries(values).map(([name, value]) => [`${place} ${name}`, { name, activity, value }] as const);
  return new Map([
    ...held("", variables),
    ...containers.flatMap((one) =>
      held(
        one.activityInstanceId ?? one.activityNodeId,
        one.variables,
        one.activityId ?? one.activityNodeId.split(":").at(-1),
      ),
    ),
  ]);
}

/** The variables that differ: those of the workflow, and those of the containers that were open. */
export const variableDifferences = (before: Then, after: Then): Difference[] =>
  differencesOf(variablesIn(before), variablesIn(after));

const until = <L extends Pick<Line, "sequence">>(lines: readonly L[], point: number): L[] =>
  lines.filter(({ sequence }) => sequence <= point);

/** The latest outputs of each activity. */
function outputsIn(lines: readonly Line[]): ReadonlyMap<string, Held> {
  return new Map(
    lines.flatMap(({ activityId: activity, outputs }) =>
      Object.entries(outputs).map(
        ([name, value]) => [`${activity} ${name}`, { name, activity, value }] as const,
      ),
    ),
  );
}

/** The outputs of activities that differ, by the lines of the journal from the first one on. */
export const outputDifferences = (lines: readonly Line[], from: number, to: number): Difference[] =>
  differencesOf(outputsIn(until(lines, from)), outputsIn(until(lines, to)));

/** The activities that are not as far at one point as at the other. */
export function movesOf(lines: readonly Line[], from: number, to: number): Moved[] {
  const before: Marks = marksOf(until(lines, from));
  const after: Marks = marksOf(until(lines, to));
  const seen = (marks: Marks, activity: string) => {
    const mark = marks.get(activity);
    return mark && { status: mark.status, runs: mark.runs };
  };
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((activity) => {
    const [was, is] = [seen(before, activity), seen(after, activity)];
    if (was?.status === is?.status && was?.runs === is?.runs) return [];
    return [{ activity, before: was, after: is }];
  });
}
