import type { Json } from "../api/types";
import { isObject } from "./json";

/** The result that an activity has in test runs. */
export interface Pin {
  outcomes: string[];
  outputs: Record<string, Json>;
}

/** What test runs of one workflow are given, kept in this browser and never in the definition. */
export interface Trial {
  /** The input as it was typed. */
  input: string;
  /** Answers to calls, and what else a run is given, as they were typed. */
  answers: string;
  /** Results by the ids of activities. */
  pins: ReadonlyMap<string, Pin>;
}

export const NO_TRIAL: Trial = { input: "", answers: "", pins: new Map() };

const STORE = "staunch.trials";
const TRIALS_MAX = 50;
/** Characters of all that is kept: a browser keeps some millions for all pages together. */
const LENGTH_MAX = 1_000_000;

interface Kept {
  definition: string;
  input: string;
  answers: string;
  pins: [string, Pin][];
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");

/** A result as it is written; nothing if it is none. */
export function pinOf(value: unknown): Pin | undefined {
  if (!isObject(value)) return undefined;
  const { outcomes = [], outputs = {}, ...others } = value;
  if (!isTexts(outcomes) || !isObject(outputs) || Object.keys(others).length > 0) return undefined;
  return { outcomes, outputs };
}

function keptOf(one: unknown): Kept[] {
  if (!isObject(one)) return [];
  const { definition, input, answers, pins } = one;
  if (typeof definition !== "string" || typeof input !== "string" || typeof answers !== "string") return [];
  const read = (Array.isArray(pins) ? pins : []).flatMap((pair): [string, Pin][] => {
    const [key, value] = Array.isArray(pair) ? pair : [];
    const pin = pinOf(value);
    return typeof key === "string" && pin ? [[key, pin]] : [];
  });
  return [{ definition, input, answers, pins: read }];
}

function readAll(store: Pick<Storage, "getItem">): Kept[] {
  try {
    const held: unknown = JSON.parse(store.getItem(STORE) ?? "[]");
    return Array.isArray(held) ? held.flatMap(keptOf) : [];
  } catch {
    return [];
  }
}

/** What is kept for a workflow: what is no trial is none. */
export function readTrial(store: Pick<Storage, "getItem">, definition: string): Trial {
  const found = readAll(store).find((one) => one.definition === definition);
  return found ? { input: found.input, answers: found.answers, pins: new Map(found.pins) } : NO_TRIAL;
}

/** Keeps it; the oldest ones go when there is no room. False if there is none for this one alone. */
export function writeTrial(
  store: Pick<Storage, "getItem" | "setItem">,
  definition: string,
  { input, answers, pins }: Trial,
): boolean {
  const others = readAll(store).filter((one) => one.definition !== definition);
  const isEmpty = input === "" && answers === "" && pins.size === 0;
  const own: Kept[] = isEmpty ? [] : [{ definition, input, answers, pins: [...pins] }];
  let all = [...others, ...own].slice(-TRIALS_MAX);
  let text = JSON.stringify(all);
  while (text.length > LENGTH_MAX && all.length > own.length) {
    all = all.slice(1);
    text = JSON.stringify(all);
  }
  if (text.length > LENGTH_MAX) return false;
  try {
    store.setItem(STORE, text);
    return true;
  } catch {
    return false;
  }
}
