import { childrenMember, type Index, idOf, isActivity, nameOf } from "./activities";
import { isSame, type Json, listOf, type Members, membersOf, namesOf } from "./json";

export interface Change {
  did: "added" | "removed" | "changed";
  what: "activity" | "lines" | "member";
  name: string;
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
    if (!was) changes.push({ did: "added", what: "activity", name: name(after, key) });
    else {
      if (!isSame(own(was.activity), own(entry.activity)))
        changes.push({ did: "changed", what: "activity", name: name(after, key) });
      if (!isSame(linesOf(was.activity), linesOf(entry.activity)))
        changes.push({ did: "changed", what: "lines", name: idOf(entry.activity) });
    }
  }
  for (const key of before.entries.keys()) {
    if (!after.get(key)) changes.push({ did: "removed", what: "activity", name: name(before, key) });
  }
  const [one, other] = [membersOf(before.doc) ?? {}, membersOf(after.doc) ?? {}];
  for (const member of new Set([...namesOf(one), ...namesOf(other)])) {
    if (!OF_SAVING.has(member) && !isSame(one[member], other[member]))
      changes.push({ did: "changed", what: "member", name: member });
  }
  return changes;
}
