import { childrenMember, type Index, isActivity, nameOf } from "./activities";
import { isMembers, isSame, type Json, listOf, type Members, membersOf, namesOf, writeText } from "./json";
import type { Path } from "./patch";

export interface Change {
  did: "added" | "removed" | "changed";
  what: "activity" | "lines" | "member";
  name: string;
  /** The id of the activity. */
  id?: string;
  /** The values that are otherwise in what was changed. */
  values?: Difference[];
}

/** A value before and after a change. */
export interface Difference {
  path: Path;
  before: Json | undefined;
  after: Json | undefined;
}

/** Each value that is otherwise, as deep as both have members there; lists are compared as a whole. */
function differences(before: Json | undefined, after: Json | undefined, path: Path = []): Difference[] {
  if (isSame(before, after)) return [];
  // Where nothing was written yet, a title is a change of the title, not of all that stands beside it.
  if (path.at(-1) === "metadata" && (before === undefined || after === undefined))
    return differences(before ?? {}, after ?? {}, path);
  if (!isMembers(before) || !isMembers(after)) return [{ path, before, after }];
  return [...new Set([...namesOf(before), ...namesOf(after)])].flatMap((name) =>
    differences(before[name], after[name], [...path, name]),
  );
}

/** A member that answers add where nothing was written: a null name, and empty properties. */
function isEmpty(name: string, value: Json | undefined): boolean {
  if (name === "name") return value === null;
  const held = name === "customProperties" || name === "metadata" ? membersOf(value) : undefined;
  return held !== undefined && namesOf(held).length === 0;
}

/** An activity without the activities in it. */
function own(activity: Members): Members {
  const inner = childrenMember(activity);
  const kept = namesOf(activity).filter(
    (name) =>
      name !== inner &&
      name !== "connections" &&
      name !== "nodeId" &&
      name !== "version" &&
      !isEmpty(name, activity[name]),
  );
  return Object.fromEntries(
    kept.flatMap((name) => (isActivity(activity[name]) ? [] : [[name, activity[name] ?? null]])),
  );
}

const OF_SAVING = new Set([
  "root",
  "id",
  "version",
  "createdAt",
  "publishedAt",
  "savedAt",
  "isLatest",
  "isPublished",
  "links",
]);

const linesOf = (activity: Members): Json[] => listOf(activity.connections);

/** What one definition has and another has not, by activity. */
export function changesBetween(before: Index, after: Index): Change[] {
  const changes: Change[] = [];
  const name = (index: Index, key: string): string => {
    const entry = index.get(key);
    return entry ? nameOf(entry.activity, index.type(entry)) : key;
  };
  for (const [key, entry] of after.entries) {
    const was = before.get(key);
    if (!was) changes.push({ did: "added", what: "activity", name: name(after, key), id: key });
    else {
      const values = differences(own(was.activity), own(entry.activity));
      if (values.length > 0)
        changes.push({ did: "changed", what: "activity", name: name(after, key), id: key, values });
      if (!isSame(linesOf(was.activity), linesOf(entry.activity)))
        changes.push({ did: "changed", what: "lines", name: name(after, key), id: key });
    }
  }
  for (const key of before.entries.keys()) {
    if (!after.get(key)) changes.push({ did: "removed", what: "activity", name: name(before, key), id: key });
  }
  const [one, other] = [membersOf(before.doc) ?? {}, membersOf(after.doc) ?? {}];
  for (const member of new Set([...namesOf(one), ...namesOf(other)])) {
    if (!OF_SAVING.has(member) && !isSame(one[member], other[member]))
      changes.push({
        did: "changed",
        what: "member",
        name: member,
        values: differences(one[member], other[member]),
      });
  }
  return changes;
}

/** Which activity a place of a joined text is in, and what it is there; `expression/value` goes without saying. */
export function placeWords(path: Path): { id?: string; member: string } {
  const steps = path.map(String);
  const at = steps.findLastIndex((step) => step.startsWith("id "));
  const inner = steps.slice(at + 1).join(".");
  return { id: steps[at]?.slice("id ".length), member: inner.replace(/\.?expression\.value$/, "") };
}

const SHOWN_MAX = 200;

/** A value as one reads it: a text as it is, an input by its expression, the rest as JSON; its begin if it is long. */
export function shownValue(value: Json | undefined): string {
  if (value === undefined) return "";
  const inner = isMembers(value) ? membersOf(value.expression)?.value : undefined;
  const shown = inner ?? value;
  const text = typeof shown === "string" ? shown : writeText(shown, "");
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}
