import type { DeclarationKind } from "./declarations";
import type { Edit } from "./history";
import { isMembers, type Json, membersOf } from "./json";
import type { Path } from "./patch";
import { Steps } from "./steps";

interface Script {
  path: Path;
  text: string;
}

/** A declaration that has another name now. */
export interface Renaming {
  kind: DeclarationKind;
  from: string;
  to: string;
}

/** The names that scripts may still use, after one more rename: each leads to the name of today. */
export function withRename(all: readonly Renaming[], next: Renaming): Renaming[] {
  const led = all.map((one) =>
    one.kind === next.kind && one.to === next.from ? { ...one, to: next.to } : one,
  );
  const others = led.filter((one) => one.kind !== next.kind || one.from !== next.from);
  return [...others, next].filter(({ from, to }) => from !== to);
}

const LANGUAGES = ["JavaScript", "Liquid", "Sql"];

/** Every script of a definition, with its place. */
function scriptsIn(doc: Json): Script[] {
  const found: Script[] = [];
  const walk = (value: Json, path: Path, isScript: boolean): void => {
    if (typeof value === "string") {
      if (isScript) found.push({ path, text: value });
    } else if (Array.isArray(value)) {
      for (const [at, item] of value.entries()) walk(item, [...path, at], false);
    } else if (isMembers(value)) {
      const isExpression = typeof value.type === "string" && LANGUAGES.includes(value.type);
      for (const [name, inner] of Object.entries(value)) {
        const isText = name === "value" && (isExpression || path.includes("script"));
        walk(inner, [...path, name], isText || name === "script");
      }
    }
  };
  const root = membersOf(doc)?.root;
  if (root !== undefined) walk(root, ["root"], false);
  return found;
}

const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
const quoted = (name: string): string => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The ways in which scripts use a declaration, each with what stands before the name and after it. */
function usesOf(kind: DeclarationKind, name: string): RegExp[] {
  const [object, word] = kind === "variables" ? ["[Vv]ariables", "Variable"] : ["[Ii]nput", "Input"];
  const own = quoted(name);
  const end = "(?![\\w$])";
  return [
    new RegExp(`(?<=(?<![\\w$.])${object}\\s*\\.\\s*)${own}${end}`, "g"),
    new RegExp(`(?<=(?<![\\w$.])${object}\\s*\\[\\s*(["'\`]))${own}(?=\\1)`, "g"),
    new RegExp(`(?<=(?<![\\w$.])[gs]et${word}\\(\\s*(["'\`]))${own}(?=\\1)`, "g"),
    new RegExp(`(?<=(?<![\\w$.])[gs]et)${quoted(pascal(name))}(?=\\s*\\()`, "g"),
  ];
}

function renamed(text: string, kind: DeclarationKind, from: string, to: string): string {
  const uses = usesOf(kind, from);
  const last = uses.pop();
  const changed = uses.reduce((now, use) => now.replace(use, () => to), text);
  return last ? changed.replace(last, () => pascal(to)) : changed;
}

/** The number of scripts that use a variable or an input by this name. */
export function scriptsThatUse(doc: Json, kind: DeclarationKind, name: string): number {
  if (name === "" || kind === "outputs") return 0;
  const uses = usesOf(kind, name);
  return scriptsIn(doc).filter(({ text }) => uses.some((use) => text.search(use) >= 0)).length;
}

/** Lets the scripts use the new name of a variable or an input. */
export function renameInScripts(
  doc: Json,
  kind: DeclarationKind,
  from: string,
  to: string,
  label: string,
): Edit {
  const steps = new Steps(doc);
  for (const { path, text } of scriptsIn(doc)) {
    const next = renamed(text, kind, from, to);
    if (next !== text) steps.set(path, next);
  }
  return steps.edit(label);
}
