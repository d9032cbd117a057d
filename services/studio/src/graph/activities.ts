import { typeName } from "../lib/format";
import { visible } from "../lib/visible";
import type { TypeWords } from "./words";

export type Members = Record<string, unknown>;

export function members(value: unknown): Members | undefined {
  return value !== null && typeof value === "object" && !Array.isArray(value)
    ? (value as Members)
    : undefined;
}

export const text = (value: unknown) => (typeof value === "string" ? value : "");

export function isActivity(value: unknown): value is Members {
  const one = members(value);
  return Boolean(one && text(one.id) && text(one.type) && !("typeName" in one));
}

/** The places for activities in a case, in a state and in a transition. */
const PARTS = ["activity", "entry", "exit", "trigger", "action"];

/** The activities inside another one, each with the port that leads to it. */
export function children(activity: Members): [string, Members][] {
  return Object.entries(activity).flatMap(([port, value]): [string, Members][] => {
    if (isActivity(value)) return [[port, value]];
    if (!Array.isArray(value)) return [];
    return value.flatMap((one: unknown): [string, Members][] => {
      if (isActivity(one)) return [[port, one]];
      const held = members(one) ?? {};
      const name = text(held.label) || text(held.name);
      return PARTS.flatMap((part): [string, Members][] => {
        const inner = held[part];
        if (!isActivity(inner)) return [];
        return [[part === "activity" ? name || port : [name, part].filter(Boolean).join(": "), inner]];
      });
    });
  });
}

/** All activities of a workflow by their ids, containers included. */
export function activitiesIn(root: unknown): Map<string, Members> {
  const found = new Map<string, Members>();
  const look = (activity: Members): void => {
    found.set(text(activity.id), activity);
    for (const [, child] of children(activity)) look(child);
  };
  if (isActivity(root)) look(root);
  return found;
}

/** The title that somebody gave, or else the name; without both it is empty. */
const ownName = (activity: Members) =>
  visible(text(members(activity.metadata)?.displayText) || text(activity.name));

/** The title of an activity, the same as in the designer: without one of its own, what its type is called. */
export function nameOf(activity: Members, words: TypeWords = typeName): string {
  return ownName(activity) || words(text(activity.type), activity.version) || text(activity.id);
}

/** What stands below a title: the type, or the id of an activity whose title says its type. */
export function aboutOf(activity: Members, words: TypeWords = typeName): string {
  const type = words(text(activity.type), activity.version);
  return ownName(activity) && nameOf(activity, words) !== type ? type : text(activity.id);
}

/** A title with the id beside it, where it has not the id already. */
export const withId = (title: string, id: string): string =>
  title === id || title.endsWith(`(${id})`) ? title : `${title} (${id})`;

/** The titles of activities by their ids, for lists: with the id beside it where two have the same one. */
export function titlesOf(
  all: ReadonlyMap<string, Members>,
  words: TypeWords = typeName,
): ReadonlyMap<string, string> {
  const titles = [...all].map(([id, activity]) => [id, nameOf(activity, words)] as const);
  const counts = new Map<string, number>();
  for (const [, title] of titles) counts.set(title, (counts.get(title) ?? 0) + 1);
  return new Map(
    titles.map(([id, title]) => [id, (counts.get(title) ?? 0) > 1 ? `${title} (${id})` : title]),
  );
}
