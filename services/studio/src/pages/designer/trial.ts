import { json } from "../../api/client";
import type { Api, Json as Plain } from "../../api/types";
import { isObject, readObject as readTyped } from "../../lib/json";
import { type Pin, readTrial, type Trial, writeTrial } from "../../lib/trials";
import type { Index } from "../../model/activities";
import { type Json, type Members, membersOf, textOf, writeText } from "../../model/json";
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
export function executionsOf(index: Index, { activities }: Ran): Execution[] {
  const [first] = activities;
  const isWhole = activities.some((one) => one.activityNodeId.startsWith(`${first?.activityNodeId}:`));
  const isOwn = ({ activityNodeId, activityId }: Api["TestedExecution"]) =>
    index.get(activityId) !== undefined &&
    activityNodeId
      .split(":")
      .slice(1)
      .every((id) => index.get(id) !== undefined);
  return activities
    .filter((one) => isOwn(one) && !(isWhole && one === first))
    .map((of, at) => ({ number: at + 1, key: of.activityId, of }));
}

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
  changeTrial(studio, { pins });
}

/** The longest that a run is waited for. */
const PATIENCE_MS = 30_000;

/**
 * Runs the workflow as it is drawn, saved or not, and shows what it did. Where the run is refused, that is
 * shown: what an earlier run did is not its answer.
 */
export async function tryOut(studio: Studio, until?: string): Promise<void> {
  const { history, index, trial } = studio.get();
  const { doc } = history;
  try {
    const text = requestOf(index, membersOf(doc) ?? {}, trial, until);
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const ran = await json<Ran>("/tests/workflows", { method: "POST", text, signal });
    const executions = executionsOf(index, ran);
    const tested = { ran, doc, executions };
    studio.set({ tested, refused: undefined, marks: marksOf(executions), run: undefined });
  } catch (refused) {
    studio.set({ tested: undefined, refused, marks: undefined, run: undefined });
  }
}

export function hideTested(studio: Studio): void {
  studio.set({ tested: undefined, refused: undefined, marks: undefined });
}
