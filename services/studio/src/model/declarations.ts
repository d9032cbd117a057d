import type { Index } from "./activities";
import type { Edit } from "./history";
import { isMembers, type Json, listOf, type Members, membersOf, textOf } from "./json";
import { newId } from "./make";
import type { Path } from "./patch";
import { Steps } from "./steps";

export type DeclarationKind = "variables" | "inputs" | "outputs";

const STORED = "Elsa.Workflows.WorkflowInstanceStorageDriver, Elsa.Workflows.Core";

export function newDeclaration(kind: DeclarationKind, name: string): Members {
  if (kind === "variables")
    return { id: newId(), name, typeName: "Object", isArray: false, storageDriverTypeName: STORED };
  const declared: Members = {
    type: "Object",
    name,
    displayName: name,
    description: "",
    category: "",
    isArray: false,
  };
  return kind === "inputs" ? { ...declared, uiHint: "singleline", storageDriverType: STORED } : declared;
}

export function freeDeclaration(doc: Json, kind: DeclarationKind): string {
  const names = listOf(membersOf(doc)?.[kind]).map((one) => textOf(membersOf(one)?.name));
  const word = { variables: "Variable", inputs: "Input", outputs: "Output" }[kind];
  for (let at = 1; ; at++) if (!names.includes(`${word}${at}`)) return `${word}${at}`;
}

export function addDeclaration(index: Index, kind: DeclarationKind, label: string): Edit {
  const declared = newDeclaration(kind, freeDeclaration(index.doc, kind));
  return new Steps(index.doc).append([kind], declared).edit(label);
}

export function removeDeclaration(index: Index, kind: DeclarationKind, at: number, label: string): Edit {
  return new Steps(index.doc).remove([kind, at]).edit(label);
}

/** The places where an expression or a `variable` member has a declaration with this id or name. */
function references(doc: Json, kind: DeclarationKind, was: Members): { path: Path; held: Members }[] {
  const found: { path: Path; held: Members }[] = [];
  const wanted = kind === "variables" ? "Variable" : "Input";
  const add = (value: Json | undefined, path: Path): void => {
    const held = membersOf(value);
    if (!held) return;
    const isIt = kind === "variables" && textOf(held.id) ? held.id === was.id : held.name === was.name;
    if (isIt) found.push({ path, held });
  };
  const walk = (value: Json, path: Path): void => {
    if (Array.isArray(value)) {
      for (const [at, item] of value.entries()) walk(item, [...path, at]);
    } else if (isMembers(value)) {
      if (value.type === wanted) add(value.value, [...path, "value"]);
      if (kind === "variables") add(value.variable, [...path, "variable"]);
      for (const [name, inner] of Object.entries(value)) walk(inner, [...path, name]);
    }
  };
  const root = membersOf(doc)?.root;
  if (root !== undefined) walk(root, ["root"]);
  return found;
}

/** The id by which the output of an activity is bound to a declaration. */
const bindingOf = (kind: DeclarationKind, declared: Members): string =>
  (kind === "variables" && textOf(declared.id)) || textOf(declared.name);

/** The places of the ids by which outputs of activities are bound to a variable or an output. */
function bindings(doc: Json, kind: DeclarationKind, at: number): Path[] {
  const all = (one: DeclarationKind) => listOf(membersOf(doc)?.[one]).map((held) => membersOf(held) ?? {});
  const ids = (one: DeclarationKind) => all(one).map((held) => bindingOf(one, held));
  const wanted = ids(kind)[at];
  const isTaken = kind === "outputs" && ids("variables").includes(wanted ?? "");
  const isOfOneMore = ids(kind).filter((id) => id === wanted).length > 1;
  if (kind === "inputs" || !wanted || isTaken || isOfOneMore) return [];
  const found: Path[] = [];
  const walk = (value: Json, path: Path): void => {
    if (Array.isArray(value)) {
      for (const [place, item] of value.entries()) walk(item, [...path, place]);
    } else if (isMembers(value)) {
      if (membersOf(value.memoryReference)?.id === wanted) found.push([...path, "memoryReference", "id"]);
      for (const [name, inner] of Object.entries(value)) walk(inner, [...path, name]);
    }
  };
  const root = membersOf(doc)?.root;
  if (root !== undefined) walk(root, ["root"]);
  return found;
}

/** Changes a member of a declaration. References that carry its name or type follow. */
export function setDeclaration(
  index: Index,
  kind: DeclarationKind,
  at: number,
  member: string,
  value: Json | undefined,
  label: string,
): Edit {
  const steps = new Steps(index.doc);
  const was = membersOf(listOf(membersOf(index.doc)?.[kind])[at]);
  const path = [kind, at, member];
  if (value === undefined) steps.remove(path);
  else steps.set(path, value);
  // A variable that is known by its name alone would be found under the old one, too.
  const isNamed = kind === "variables" && member === "name" && was?.id !== undefined && was.id === was.name;
  const id = isNamed && value !== was.name ? newId() : undefined;
  if (id !== undefined) steps.set([kind, at, "id"], id);
  const isFollowed =
    value !== undefined && kind !== "outputs" && (member === "name" || member === "typeName");
  if (was && isFollowed)
    for (const { path: place, held } of references(index.doc, kind, was)) {
      steps.set([...place, member], value);
      if (id !== undefined && held.id !== undefined) steps.set([...place, "id"], id);
    }
  const binding = member === "name" && was ? (id ?? bindingOf(kind, { ...was, name: value ?? "" })) : "";
  if (was && binding !== "" && binding !== bindingOf(kind, was))
    for (const place of bindings(index.doc, kind, at)) steps.set(place, binding);
  if (
    was &&
    kind !== "variables" &&
    member === "name" &&
    was.displayName === was.name &&
    value !== undefined
  ) {
    steps.set([kind, at, "displayName"], value);
  }
  return steps.edit(label, { merge: `set ${path.join("/")}` });
}
