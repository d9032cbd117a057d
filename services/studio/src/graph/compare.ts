import { isObject } from "../lib/json";
import { activitiesIn } from "./activities";

export interface Comparison {
  added: string[];
  changed: string[];
  removed: string[];
}

/** What became of an activity from one version to another. */
export type Change = keyof Comparison;

/** The same, by the ids of the activities. */
export function changesOf(comparison: Comparison): ReadonlyMap<string, Change> {
  const all: Change[] = ["added", "changed", "removed"];
  return new Map(all.flatMap((change) => comparison[change].map((id) => [id, change] as const)));
}

/** What an activity says about itself: without its place, and without the activities in it. */
function own(activity: Record<string, unknown>): string {
  return JSON.stringify(activity, (name, value: unknown) => {
    if (name === "metadata" || name === "nodeId" || name === "connections") return undefined;
    if (
      name !== "" &&
      isObject(value) &&
      typeof value.id === "string" &&
      typeof value.type === "string" &&
      !("typeName" in value)
    ) {
      return undefined;
    }
    return value;
  });
}

/** Which activities one version has and another one has not, or has otherwise. */
export function compare(before: unknown, after: unknown): Comparison {
  const [old, now] = [activitiesIn(before), activitiesIn(after)];
  return {
    added: [...now.keys()].filter((id) => !old.has(id)),
    removed: [...old.keys()].filter((id) => !now.has(id)),
    changed: [...now].flatMap(([id, activity]) => {
      const was = old.get(id);
      return was && own(was) !== own(activity) ? [id] : [];
    }),
  };
}
