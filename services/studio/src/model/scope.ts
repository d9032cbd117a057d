import { type Entry, type Index, idOf } from "./activities";
import { listOf, type Members, membersOf, textOf } from "./json";
import { endsOf } from "./view";

export interface Named {
  name: string;
  type: string;
  /** The whole declaration. */
  held: Members;
}

export interface Produced {
  activity: string;
  id: string;
  output: string;
  type: string;
}

/** What an expression of an activity can use. */
export interface Scope {
  variables: Named[];
  inputs: Named[];
  outputs: Produced[];
}

function declared(list: unknown, typeMember: string): Named[] {
  return listOf(list).flatMap((one): Named[] => {
    const held = membersOf(one);
    const name = textOf(held?.name);
    return held && name ? [{ name, type: textOf(held[typeMember]) || "Object", held }] : [];
  });
}

/** The activities of a flowchart from which lines lead to this one. */
function before(flowchart: Members, id: string): Set<string> {
  const sources = new Map<string, string[]>();
  for (const connection of listOf(flowchart.connections)) {
    const { source, target } = endsOf(connection);
    const known = sources.get(target);
    if (known) known.push(source);
    else sources.set(target, [source]);
  }
  const found = new Set<string>();
  const open = [id];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const source of sources.get(next) ?? []) {
      if (found.has(source)) continue;
      found.add(source);
      open.push(source);
    }
  }
  return found;
}

function earlier(index: Index, line: readonly Entry[]): Entry[] {
  const result: Entry[] = [];
  for (const [at, owner] of line.entries()) {
    const child = line[at + 1];
    if (child?.slot !== "") continue;
    const siblings = index.children(owner.key).filter((entry) => entry.slot === "");
    if (Array.isArray(owner.activity.connections)) {
      const ids = before(owner.activity, idOf(child.activity));
      result.push(...siblings.filter((entry) => ids.has(idOf(entry.activity)) && entry !== child));
    } else if (/Sequence$/.test(textOf(owner.activity.type))) {
      result.push(...siblings.slice(0, siblings.indexOf(child)));
    }
  }
  return result;
}

export function variablesOf(index: Index, key: string | undefined): Named[] {
  const line = key === undefined ? [] : index.line(key);
  const variables = new Map(
    declared(membersOf(index.doc)?.variables, "typeName").map((one) => [one.name, one]),
  );
  for (const entry of line.slice(0, -1)) {
    for (const one of declared(entry.activity.variables, "typeName")) variables.set(one.name, one);
    const type = textOf(entry.activity.type);
    if (!/^Elsa\.(ForEach|ParallelForEach|For)$/.test(type)) continue;
    const dynamic = type === "Elsa.For" ? ["CurrentValue"] : ["CurrentValue", "CurrentIndex"];
    for (const name of dynamic)
      variables.set(name, { name, type: "Object", held: { name, typeName: "Object" } });
  }
  return [...variables.values()];
}

export const inputsOf = (index: Index): Named[] => declared(membersOf(index.doc)?.inputs, "type");

export function scopeOf(index: Index, key: string | undefined): Scope {
  const line = key === undefined ? [] : index.line(key);
  const outputs = earlier(index, line).flatMap((entry): Produced[] =>
    (index.type(entry)?.outputs ?? []).map((output) => ({
      activity: textOf(entry.activity.name) || idOf(entry.activity),
      id: idOf(entry.activity),
      output: output.name,
      type: output.typeName,
    })),
  );
  return { variables: variablesOf(index, key), inputs: inputsOf(index), outputs };
}

export interface Completion {
  label: string;
  type: string;
  kind: "variable" | "input" | "output" | "function";
}

const isWord = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name);
const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const FUNCTIONS: readonly (readonly [string, string])[] = [
  ["getWorkflowInstanceId()", "String"],
  ["getWorkflowDefinitionId()", "String"],
  ["getCorrelationId()", "String"],
  ["setCorrelationId(", ""],
  ["getVariable(", "Object"],
  ["setVariable(", ""],
  ["getInput(", "Object"],
  ["getOutputFrom(", "Object"],
  ["getLastResult()", "Object"],
  ["isNullOrEmpty(", "Boolean"],
  ["isNullOrWhiteSpace(", "Boolean"],
  ["toJson(", "String"],
  ["newGuid()", "Guid"],
  ["newGuidString()", "String"],
];

function javaScript(scope: Scope): Completion[] {
  return [
    ...scope.variables.flatMap(({ name, type }): Completion[] => {
      if (!isWord(name)) return [{ label: `getVariable(${JSON.stringify(name)})`, type, kind: "variable" }];
      const get: Completion = { label: `get${pascal(name)}()`, type, kind: "variable" };
      return [
        { label: `variables.${name}`, type, kind: "variable" },
        get,
        { ...get, label: `set${pascal(name)}(`, type: "" },
      ];
    }),
    ...scope.inputs.flatMap(({ name, type }): Completion[] => {
      const call: Completion = { label: `getInput(${JSON.stringify(name)})`, type, kind: "input" };
      return isWord(name) ? [{ ...call, label: `get${pascal(name)}()` }, call] : [call];
    }),
    ...scope.outputs.flatMap(({ activity, output, type }): Completion[] => {
      const call: Completion = {
        label: `getOutputFrom(${JSON.stringify(activity)}, ${JSON.stringify(output)})`,
        type,
        kind: "output",
      };
      return isWord(activity) ? [{ ...call, label: `get${output}From${pascal(activity)}()` }, call] : [call];
    }),
    ...FUNCTIONS.map(([label, type]): Completion => ({ label, type, kind: "function" })),
  ];
}

function liquid(scope: Scope): Completion[] {
  return [
    ...scope.variables.map(
      ({ name, type }): Completion => ({ label: `Variables.${name}`, type, kind: "variable" }),
    ),
    ...scope.inputs.map(({ name, type }): Completion => ({ label: `Input.${name}`, type, kind: "input" })),
    { label: "CorrelationId", type: "String", kind: "function" },
    { label: "WorkflowInstanceId", type: "String", kind: "function" },
    { label: "WorkflowDefinitionId", type: "String", kind: "function" },
    { label: "WorkflowDefinitionVersion", type: "Int32", kind: "function" },
  ];
}

/** What can be typed in a language. */
export function completionsOf(scope: Scope, language: string): Completion[] {
  if (language === "JavaScript") return javaScript(scope);
  if (language === "Liquid" || language === "Sql") return liquid(scope);
  return [];
}
