import { isMembers, type Json, membersOf, namesOf, objectOf } from "../../model/json";

const isNothing = (value: Json): boolean =>
  value === null ||
  value === "" ||
  (Array.isArray(value) && value.length === 0) ||
  (isMembers(value) && namesOf(value).length === 0);

/** A definition without what says nothing: the server writes members that an author leaves out. */
export function essence(value: Json): Json {
  if (Array.isArray(value)) return value.map(essence);
  if (!isMembers(value)) return value;
  return objectOf(
    namesOf(value).flatMap((name): [string, Json][] => {
      const kept = essence(value[name] ?? null);
      return isNothing(kept) ? [] : [[name, kept]];
    }),
  );
}

/** What a publication publishes, and the version that it begins with. */
export interface Published {
  what: "first" | "draft" | "changed" | "again";
  version: number;
}

/** What would be published now: the draft, or what was changed since the published version. */
export function toPublish(saved: Json | undefined, isDirty: boolean): Published {
  const held = membersOf(saved);
  const version = Number(held?.version ?? 0);
  if (!held) return { what: "first", version };
  if (held.isPublished !== true) return { what: "draft", version };
  return { what: isDirty ? "changed" : "again", version };
}
