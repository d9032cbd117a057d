import { activityWord } from "../lib/format";

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

/** The title that the designer shows, or else the name; without both, what `activityWord` says. */
export function nameOf(activity: Members): string {
  const shown = text(members(activity.metadata)?.displayText);
  return activityWord(text(activity.id), shown || text(activity.name), text(activity.type));
}
