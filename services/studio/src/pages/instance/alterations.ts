import type { Api } from "../../api/types";
import { isObject } from "../../lib/json";

type Entry = Pick<Api["JournalEntry"], "eventName" | "message" | "payload">;
type Names = (id: string) => string;

const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);

/** The id of the variable that a line of the journal says was given another value. */
export function changedVariable({ eventName, message, payload }: Entry): string | undefined {
  if (eventName !== "Altered" || message !== "ModifyVariable" || !isObject(payload)) return undefined;
  return textOf(payload.variableId);
}

/** What a change by hand was about: its variable, its activities, its versions, its reason. */
export function aboutOf(entry: Entry, activities: Names, variables: Names): string | undefined {
  const { eventName, payload } = entry;
  if (eventName !== "Altered" || !isObject(payload)) return undefined;
  const variable = changedVariable(entry);
  if (variable !== undefined) return variables(variable);
  const activity = textOf(payload.activityId);
  if (activity !== undefined) return activities(activity);
  if (typeof payload.fromVersion === "number") return `v${payload.fromVersion} → v${payload.toVersion}`;
  if (Array.isArray(payload.activities)) {
    const ids = payload.activities.flatMap((one) => (isObject(one) ? (textOf(one.activityId) ?? []) : []));
    return ids.map(activities).join(", ") || undefined;
  }
  return textOf(payload.reason);
}

/** The value of a variable at a point in time: of the workflow, or else of an activity that declares it. */
export function valueThen({ variables, containers }: Api["StateThen"], name: string): unknown {
  const holder = [variables, ...containers.map((one) => one.variables)].find((held) =>
    Object.hasOwn(held, name),
  );
  return holder?.[name];
}
