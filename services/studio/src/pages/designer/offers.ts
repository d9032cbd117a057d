import { type ActivityType, CONTAINERS, shortType } from "../../model/descriptors";
import { w } from "./words";

const STORE = "staunch.designer.recent";

export interface Group {
  name: string;
  types: ActivityType[];
}

const listeners = new Set<() => void>();

/** Calls when an activity has become one of the recent. */
export function onRecent(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The recent activities as one text, which is the same for as long as they are. */
export const recentText = (): string => recentTypes().join(" ");

export function recentTypes(): string[] {
  try {
    const read: unknown = JSON.parse(localStorage.getItem(STORE) ?? "[]");
    return Array.isArray(read) ? read.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

export function remember(typeName: string): void {
  const all = [typeName, ...recentTypes().filter((one) => one !== typeName)].slice(0, 5);
  localStorage.setItem(STORE, JSON.stringify(all));
  for (const listener of listeners) listener();
}

/** What a category is called here; one of a worker is called as the worker says. */
export function categoryWord(category: string, words = w.categories): string {
  return (Object.hasOwn(words, category) ? words[category] : undefined) ?? category;
}

/** The better a type fits, the smaller the number; nothing if it does not fit. */
function rank(type: ActivityType, words: readonly string[]): number | undefined {
  const name = `${type.displayName} ${shortType(type.typeName)}`.toLowerCase();
  const all =
    `${name} ${type.category} ${categoryWord(type.category)} ${type.description ?? ""}`.toLowerCase();
  if (!words.every((word) => all.includes(word))) return undefined;
  if (words.every((word) => name.startsWith(word))) return 0;
  return words.every((word) => name.includes(word)) ? 1 : 2;
}

const ORDER = [
  "Branching",
  "Looping",
  "Flow",
  "Primitives",
  "HTTP",
  "Scheduling",
  "Composition",
  "NATS",
  "Scripting",
];

function place(category: string): number {
  const at = ORDER.indexOf(category);
  return at < 0 ? ORDER.length : at;
}

/** What a palette shows, in groups; one group of the best first where somebody searches. */
export function groupsOf(types: readonly ActivityType[], search: string): Group[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length > 0) {
    const found = types.flatMap((type) => {
      const fits = rank(type, words);
      return fits === undefined ? [] : [{ type, fits }];
    });
    found.sort(
      (one, other) => one.fits - other.fits || one.type.displayName.localeCompare(other.type.displayName),
    );
    return found.length > 0 ? [{ name: "", types: found.map(({ type }) => type) }] : [];
  }
  const groups = new Map<string, ActivityType[]>();
  for (const type of types) {
    const category = CONTAINERS.includes(type.typeName) ? w.containers : type.category;
    const group = groups.get(category);
    if (group) group.push(type);
    else groups.set(category, [type]);
  }
  const sorted = [...groups].sort(([one], [other]) => place(one) - place(other) || one.localeCompare(other));
  const recent = recentTypes().flatMap((name) => types.find((type) => type.typeName === name) ?? []);
  const all = sorted.map(([name, list]) => ({
    name: categoryWord(name),
    types: list.sort((one, other) => one.displayName.localeCompare(other.displayName)),
  }));
  return recent.length > 0 ? [{ name: w.recent, types: recent }, ...all] : all;
}
