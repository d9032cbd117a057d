import { type Entry, type Index, idOf, isFlowchart, typeOf } from "./activities";
import { NotCron, readCron } from "./cron";
import { type InputType, memberOf } from "./descriptors";
import { dictionaryFault, isDictionary, valueTypeOf } from "./dictionary";
import { type LiteralFault, literalFault, literalText, readInput } from "./expressions";
import { type Json, listOf, type Members, membersOf, NotJson, readText, textOf } from "./json";
import { outcomesOf } from "./outcomes";
import type { Reason } from "./reasons";
import { inputsOf, variablesOf } from "./scope";
import { syntaxFault } from "./syntax";
import { endsOf } from "./view";

/** What is wrong, as a value: the page says it in words. */
export type Fault =
  | { is: "type"; type: string }
  | { is: "double"; id: string }
  | { is: "line"; from: string; to: string }
  | { is: "outcome"; outcome: string; outcomes: readonly string[] }
  | { is: "unreached" }
  | { is: "literal"; input: string; value: string; fault: LiteralFault; type: string }
  | { is: "json"; input: string; reason: Reason }
  | { is: "cron"; reason: Reason }
  | { is: "syntax"; input: string; reason: Reason }
  | { is: "variable"; input: string; name: string }
  | { is: "input"; input: string; name: string }
  | { is: "unchosen"; input: string; what: "variable" | "input" | "secret" }
  | { is: "name"; kind: "variable" | "input" | "output"; name: string }
  | { is: "empty" }
  | { is: "server"; message: string; input?: string }
  | { is: "more" };

export interface Problem {
  fault: Fault;
  /** The key of the activity. */
  key?: string;
  /** The member of it. */
  member?: string;
  isWarning: boolean;
}

const REFERENCES: Readonly<Partial<Record<string, "variable" | "input" | "secret">>> = {
  Variable: "variable",
  Input: "input",
  Secret: "secret",
};

const isId = (held: Json | undefined, id: string): boolean => textOf(membersOf(held)?.id) === id;

function referenceFault(
  index: Index,
  entry: Entry,
  input: InputType,
  type: string,
  value: Json | undefined,
): Fault | undefined {
  const what = REFERENCES[type];
  if (!what) return undefined;
  const name = textOf(membersOf(value)?.name) || textOf(value);
  if (!name && !textOf(membersOf(value)?.id)) return { is: "unchosen", input: input.displayName, what };
  if (!name || what === "secret") return undefined;
  const id = textOf(membersOf(value)?.id);
  const known = type === "Variable" ? variablesOf(index, entry.key) : inputsOf(index);
  if (known.some((one) => one.name === name || (id !== "" && isId(one.held, id)))) return undefined;
  return { is: type === "Variable" ? "variable" : "input", input: input.displayName, name };
}

function jsonFault(input: InputType, type: string, value: Json | undefined): Fault | undefined {
  const text = textOf(value).trim();
  if ((type !== "Object" && type !== "Json") || !text) return undefined;
  try {
    readText(text);
    return undefined;
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    return { is: "json", input: input.displayName, reason: error.reason };
  }
}

const PLAIN = new Set(["Literal", "Object", "Json"]);

function inputFault(index: Index, entry: Entry, input: InputType): Fault | undefined {
  const { type, value, isGiven } = readInput(entry.activity, input);
  if (!isGiven) return undefined;
  if (type === "JavaScript" || type === "Liquid") {
    const reason = syntaxFault(textOf(value), type);
    return reason && { is: "syntax", input: input.displayName, reason };
  }
  const inside = isDictionary(input) && PLAIN.has(type) && dictionaryFault(value, valueTypeOf(input));
  if (inside) {
    const { key, value: text, fault } = inside;
    const type = valueTypeOf(input);
    return { is: "literal", input: `${input.displayName}, ${key}`, value: text, fault, type };
  }
  if (type !== "Literal")
    return jsonFault(input, type, value) ?? referenceFault(index, entry, input, type, value);
  if (typeOf(entry.activity) === "Elsa.Cron" && input.name === "CronExpression" && textOf(value)) {
    try {
      readCron(textOf(value));
    } catch (error) {
      if (error instanceof NotCron) return { is: "cron", reason: error.reason };
      throw error;
    }
  }
  if (input.uiHint === "http-status-codes") return codeFault(input, value);
  const fault = literalFault(value, input.typeName);
  return (
    fault && { is: "literal", input: input.displayName, value: String(value), fault, type: input.typeName }
  );
}

/** A status code that is none, among those that are expected of a request. */
function codeFault(input: InputType, value: Json | undefined): Fault | undefined {
  for (const one of listOf(value)) {
    const held = membersOf(one);
    if (!held) continue;
    const code = held.statusCode;
    const text = literalText(code);
    const isNone = text === "" || Number(text) < 100 || Number(text) > 599;
    const fault = (text !== "" && literalFault(code, "Int32")) || (isNone ? "status" : undefined);
    if (fault) return { is: "literal", input: input.displayName, value: text, fault, type: "Int32" };
  }
  return undefined;
}

function flowFaults(index: Index, entry: Entry): Problem[] {
  const problems: Problem[] = [];
  const children = index.children(entry.key).filter((child) => child.slot === "");
  const byId = new Map(children.map((child) => [idOf(child.activity), child]));
  const reached = new Set<string>();
  const used = new Map<string, Set<string>>();
  for (const connection of listOf(entry.activity.connections)) {
    const { source, port, target } = endsOf(connection);
    if (!byId.has(source) || !byId.has(target)) {
      problems.push({ fault: { is: "line", from: source, to: target }, key: entry.key, isWarning: false });
      continue;
    }
    if (source !== target) reached.add(target);
    used.set(source, (used.get(source) ?? new Set()).add(port));
  }
  for (const [id, ports] of used) {
    const child = byId.get(id);
    const type = child && index.type(child);
    if (!child || !type) continue;
    const outcomes = outcomesOf(child.activity, type);
    const isOpen = type.ports.length === 0 || outcomes.includes("Done");
    for (const outcome of ports) {
      if (outcomes.includes(outcome) || (isOpen && outcome === "Done")) continue;
      problems.push({ fault: { is: "outcome", outcome, outcomes }, key: child.key, isWarning: true });
    }
  }
  const starts = children.filter((child) => isStart(index, child));
  const open =
    starts.length > 0 ? starts : children.filter((child) => !reached.has(idOf(child.activity))).slice(0, 1);
  const live = new Set((open.length > 0 ? open : children.slice(0, 1)).map((child) => idOf(child.activity)));
  const targets = new Map<string, string[]>();
  for (const connection of listOf(entry.activity.connections)) {
    const { source, target } = endsOf(connection);
    targets.set(source, [...(targets.get(source) ?? []), target]);
  }
  const next = [...live];
  for (let id = next.pop(); id !== undefined; id = next.pop()) {
    for (const target of targets.get(id) ?? []) {
      if (live.has(target)) continue;
      live.add(target);
      next.push(target);
    }
  }
  for (const child of children) {
    if (!live.has(idOf(child.activity)))
      problems.push({ fault: { is: "unreached" }, key: child.key, isWarning: true });
  }
  return problems;
}

function isStart(index: Index, entry: Entry): boolean {
  const custom = membersOf(entry.activity.customProperties);
  const isTrigger =
    (custom?.canStartWorkflow ?? custom?.CanStartWorkflow ?? entry.activity.canStartWorkflow) === true;
  return isTrigger || (index.type(entry)?.isStart ?? false);
}

function nameFaults(doc: Members): Problem[] {
  const problems: Problem[] = [];
  for (const kind of ["variable", "input", "output"] as const) {
    const names = listOf(doc[`${kind}s`]).map((one) => textOf(membersOf(one)?.name));
    const double = names.filter((name, at) => names.indexOf(name) !== at);
    for (const name of new Set(double))
      problems.push({ fault: { is: "name", kind, name }, isWarning: false });
  }
  return problems;
}

const known = new WeakMap<Members, { around: unknown; problems: Problem[] }>();

/** The faults of one activity; they are kept while it and what it can use stay the same. */
function activityFaults(index: Index, entry: Entry, around: unknown): Problem[] {
  const kept = known.get(entry.activity);
  if (kept && kept.around === around) return kept.problems;
  const problems: Problem[] = [];
  const type = index.type(entry);
  if (!type)
    problems.push({
      fault: { is: "type", type: typeOf(entry.activity) },
      key: entry.key,
      member: "type",
      isWarning: false,
    });
  for (const input of type?.inputs ?? []) {
    const fault = inputFault(index, entry, input);
    if (fault) problems.push({ fault, key: entry.key, member: memberOf(input.name), isWarning: false });
  }
  if (isFlowchart(entry.activity)) problems.push(...flowFaults(index, entry));
  known.set(entry.activity, { around, problems });
  return problems;
}

/** What is wrong with a definition as far as it can be seen without the server. */
export function problemsOf(index: Index): Problem[] {
  const doc = membersOf(index.doc);
  if (!doc) return [];
  const around = `${JSON.stringify(doc.variables ?? null)}${JSON.stringify(doc.inputs ?? null)}${index.types.number}`;
  const problems = nameFaults(doc);
  const root = index.root();
  if (!root || (index.children(root.key).length === 0 && isFlowchart(root.activity)))
    problems.push({ fault: { is: "empty" }, isWarning: true });
  for (const entry of index.entries.values()) problems.push(...activityFaults(index, entry, around));
  for (const entry of index.doubles)
    problems.push({ fault: { is: "double", id: idOf(entry.activity) }, key: entry.key, isWarning: false });
  return problems;
}
