import { json } from "../../api/client";
import type { Api, Json as Plain } from "../../api/types";
import { isObject, readObject as readTyped } from "../../lib/json";
import { type Pin, readTrial, type Trial, writeTrial } from "../../lib/trials";
import { type Index, idOf, nameOf, typeOf } from "../../model/activities";
import { shortType } from "../../model/descriptors";
import { type Json, type Members, membersOf, textOf, writeText } from "../../model/json";
import { Steps } from "../../model/steps";
import { cardOf } from "./cards";
import type { Mark, Studio } from "./store";
import { w } from "./words";

export type Ran = Api["WorkflowTestRun"];

/** One execution of an activity, with its place among those that are shown. */
export interface Execution {
  number: number;
  key: string;
  of: Api["TestedExecution"];
}

/** A test run, and the text that ran. */
export interface Tested {
  ran: Ran;
  doc: Json;
  executions: readonly Execution[];
  /** The request of the run to its end. */
  request: string;
}

/** The text of a field is no JSON object. */
export class NotObject extends Error {
  override readonly name = "NotObject";
}

/** What somebody typed as a JSON object; nothing typed is an empty one. */
export function readObject(text: string): { value?: Record<string, Plain>; error?: string } {
  const read = readTyped(text);
  return read.ok ? { value: read.value ?? {} } : { error: read.error };
}

const objectIn = (text: string, field: string): Record<string, Plain> => {
  const { value, error } = readObject(text);
  if (!value) throw new NotObject(`${field}: ${error ?? ""}`);
  return value;
};

/** The keys of activities that have no id of their own, by the ids that they run under. */
export type Names = ReadonlyMap<string, string>;

const NO_NAMES: Names = new Map();

/** The definition with an id for each activity, so that what ran can be told apart. */
export function withIds(index: Index): { doc: Json; names: Names } {
  const { doc, entries } = index;
  const nameless = [...entries.values()].filter(({ activity }) => idOf(activity) === "");
  if (nameless.length === 0) return { doc, names: NO_NAMES };
  const steps = new Steps(doc);
  const names = new Map<string, string>();
  for (const { key, path, activity } of nameless) {
    const short = shortType(typeOf(activity));
    let number = 1;
    while (entries.has(`${short}${number}`) || names.has(`${short}${number}`)) number++;
    names.set(`${short}${number}`, key);
    steps.set([...path, "id"], `${short}${number}`);
  }
  return { doc: steps.doc, names };
}

/** The request of a test run. Pins of activities that are not there any more are not sent. */
export function requestOf(index: Index, doc: Members, trial: Trial, until: string | undefined): string {
  const { model: _, ...answers } = objectIn(trial.answers, w.trialAnswers);
  const pins = [...trial.pins].filter(([key]) => index.get(key));
  const more: Omit<Api["WorkflowTest"], "model"> = {
    ...answers,
    input: objectIn(trial.input, w.trialInput),
    pins: Object.fromEntries(pins),
    ...(until === undefined ? {} : { until }),
  };
  return `{"model":${writeText(doc, "")},${JSON.stringify(more).slice(1)}`;
}

/** The executions that the page can show, in order; the workflow as a whole is none of them. */
export function executionsOf(index: Index, { activities }: Ran, names: Names = NO_NAMES): Execution[] {
  const [first] = activities;
  const keyOf = (id: string) => names.get(id) ?? id;
  const isWhole = activities.some((one) => one.activityNodeId.startsWith(`${first?.activityNodeId}:`));
  const isOwn = ({ activityNodeId, activityId }: Api["TestedExecution"]) =>
    index.get(keyOf(activityId)) !== undefined &&
    activityNodeId
      .split(":")
      .slice(1)
      .every((id) => index.get(keyOf(id)) !== undefined);
  return activities
    .filter((one) => isOwn(one) && !(isWhole && one === first))
    .map((of, at) => ({ number: at + 1, key: keyOf(of.activityId), of }));
}

/** How a run ended: one that was stopped does not go on, though it had not ended by itself. */
export const endOf = ({ status, stopped }: Pick<Ran, "status" | "stopped">) =>
  stopped ? { status: "Cancelled", word: w.trialStopped } : { status };

/** How one activity ended that was tried alone: one that has not ended waits, and nothing runs. */
export const tryEnd = ({ status }: Pick<Api["TestRun"], "status">) =>
  status === "Running" ? { status: "Suspended", word: w.testWaits } : { status };

/** What the cards show of a test run. */
export function marksOf(executions: readonly Execution[]): ReadonlyMap<string, Mark> {
  const marks = new Map<string, Mark>();
  for (const { key, number, of } of executions) {
    const was = marks.get(key);
    marks.set(key, { status: of.status, runs: (was?.runs ?? 0) + 1, order: was?.order ?? number });
  }
  return marks;
}

/** Whether a value is shown without its end. */
function isCut(value: Plain): boolean {
  if (Array.isArray(value)) return value.some(isCut);
  return isObject(value) && ("$cut" in value || Object.values(value).some(isCut));
}

const TEXT_MAX = 60_000;

/** Whether all of a result is here, so that it can be pinned. */
export function isWhole({ isCut: isLeftOut, outputs }: Api["TestedExecution"]): boolean {
  const isLong = (value: Plain) =>
    typeof value === "string" && value.length > TEXT_MAX && value.endsWith("…");
  const values = Object.values(outputs as Record<string, Plain>);
  return !isLeftOut && !values.some((value) => isCut(value) || isLong(value));
}

export const resultOf = ({ outcomes, outputs }: Api["TestedExecution"]): Pin => ({
  outcomes,
  outputs: outputs as Record<string, Plain>,
});

/** The result of an activity that did nothing: it leaves by its first outcome. */
export function emptyPin(studio: Studio, key: string): Pin {
  const { index } = studio.get();
  const entry = index.get(key);
  const [first] = entry ? cardOf(entry, index.type(entry)).outcomes : [];
  return { outcomes: [first || "Done"], outputs: {} };
}

const definitionOf = (studio: Studio): string => textOf(membersOf(studio.get().history.doc)?.definitionId);

/** What this browser has kept for the workflow. */
export function recall(studio: Studio): void {
  studio.set({ trial: readTrial(localStorage, definitionOf(studio)) });
}

/** Changes what test runs are given, and keeps it in this browser. */
export function changeTrial(studio: Studio, part: Partial<Trial>): void {
  const trial = { ...studio.get().trial, ...part };
  studio.set({ trial, isKept: writeTrial(localStorage, definitionOf(studio), trial) });
}

export function setPin(studio: Studio, key: string, pin: Pin | undefined): void {
  const pins = new Map(studio.get().trial.pins);
  if (pin) pins.set(key, pin);
  else pins.delete(key);
  typePin(studio, key, undefined);
  changeTrial(studio, { pins });
}

/** Keeps what was typed as a pinned result and is none; nothing, where it is one. */
export function typePin(studio: Studio, key: string, text: string | undefined): void {
  const wrongPins = new Map(studio.get().wrongPins);
  if (text === undefined) wrongPins.delete(key);
  else wrongPins.set(key, text);
  studio.set({ wrongPins });
}

/** Pins a result, and goes to where it can be changed. */
export function askForPin(studio: Studio, key: string, pin: Pin): void {
  setPin(studio, key, pin);
  studio.set({ pinAt: key, over: "right" });
  if (studio.get().selected[0] !== key) studio.reveal(key);
}

export function removePins(studio: Studio): void {
  studio.set({ wrongPins: new Map() });
  changeTrial(studio, { pins: new Map() });
}

/** The activities whose pinned results cannot be read: there is no run before they are. */
export const unreadPins = (index: Index, wrongPins: ReadonlyMap<string, string>): string[] =>
  [...wrongPins.keys()].flatMap((key) => {
    const entry = index.get(key);
    return entry ? [nameOf(entry.activity, index.type(entry))] : [];
  });

/** The longest that a run is waited for. */
export const PATIENCE_MS = 30_000;

/**
 * Runs the workflow as it is drawn, saved or not, and shows what it did. Where the run is refused, that is
 * shown: what an earlier run did is not its answer.
 */
export async function tryOut(studio: Studio, until?: string): Promise<void> {
  await studio.beforeSave?.();
  const { history, index, trial, wrongPins } = studio.get();
  const { doc } = history;
  try {
    const unread = unreadPins(index, wrongPins);
    if (unread.length > 0) throw new NotObject(w.pinsUnread(unread));
    const named = withIds(index);
    const last = [...named.names].find(([, key]) => key === until)?.[0] ?? until;
    const model = membersOf(named.doc) ?? {};
    const text = requestOf(index, model, trial, last);
    const request = last === undefined ? text : requestOf(index, model, trial, undefined);
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const ran = await json<Ran>("/tests/workflows", { method: "POST", text, signal });
    const executions = executionsOf(index, ran, named.names);
    const tested = { ran, doc, executions, request };
    studio.set({ tested, refused: undefined, marks: marksOf(executions), run: undefined });
  } catch (refused) {
    studio.set({ tested: undefined, refused, marks: undefined, run: undefined });
  }
}

export function hideTested(studio: Studio): void {
  studio.set({ tested: undefined, refused: undefined, marks: undefined });
}
