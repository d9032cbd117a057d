import { idOf, isActivity } from "../../../model/activities";
import {
  isMembers,
  type Json,
  listOf,
  type Members,
  membersOf,
  namesOf,
  objectOf,
  textOf,
} from "../../../model/json";

/** Members of a definition that only the server sets; what a person reads is better without them. */
const SET_BY_SERVER = [
  "id",
  "version",
  "createdAt",
  "publishedAt",
  "isLatest",
  "isPublished",
  "isReadonly",
  "isSystem",
];

/** The same value with another activity in the place of each. */
function mapped(value: Json, change: (activity: Members) => Members): Json {
  if (Array.isArray(value)) return value.map((item) => mapped(item, change));
  if (!isMembers(value)) return value;
  const next = isActivity(value) ? change(value) : value;
  return objectOf(namesOf(next).map((name) => [name, mapped(next[name] ?? null, change)]));
}

/** The place on the canvas of each activity, by its id. An id that is there twice names none. */
function placesIn(doc: Json): Map<string, Json> {
  const places = new Map<string, Json>();
  const seen = new Set<string>();
  const look = (value: Json): void => {
    if (Array.isArray(value)) for (const item of value) look(item);
    if (!isMembers(value)) return;
    if (isActivity(value)) {
      const id = idOf(value);
      const place = membersOf(value.metadata)?.designer;
      if (seen.has(id)) places.delete(id);
      else if (id !== "" && place !== undefined) places.set(id, place);
      seen.add(id);
    }
    for (const name of namesOf(value)) look(value[name] ?? null);
  };
  look(doc);
  return places;
}

/** A definition without what the canvas and the server keep in it: the text has only what one writes. */
export function bareOf(doc: Json): Json {
  const places = placesIn(doc);
  const bare = mapped(doc, (activity) => {
    const metadata = membersOf(activity.metadata);
    if (!metadata || !places.has(idOf(activity))) return activity;
    const { designer: _, ...rest } = metadata;
    return objectOf(
      namesOf(activity).map((name) => [name, name === "metadata" ? rest : (activity[name] ?? null)]),
    );
  });
  if (!isMembers(bare)) return bare;
  const names = namesOf(bare).filter((name) => !SET_BY_SERVER.includes(name));
  return objectOf(names.map((name) => [name, bare[name] ?? null]));
}

/** A definition that was written as text, with what the text does not have from the one before. */
export function completed(written: Json, before: Json): Json {
  const places = placesIn(before);
  const next = mapped(written, (activity) => {
    const place = places.get(idOf(activity));
    const metadata = membersOf(activity.metadata) ?? {};
    if (place === undefined || "designer" in metadata) return activity;
    return { ...activity, metadata: { ...metadata, designer: place } };
  });
  if (!isMembers(next) || !isMembers(before)) return next;
  const names = namesOf(before);
  const isKept = (name: string) =>
    SET_BY_SERVER.includes(name) || (name === "definitionId" && textOf(next.definitionId) === "");
  const kept = names.filter((name) => isKept(name) && (!(name in next) || name === "definitionId"));
  // Members have the order that they had; new ones come last.
  const all = [
    ...new Set([...names.filter((name) => kept.includes(name) || name in next), ...namesOf(next)]),
  ];
  return objectOf(all.map((name) => [name, (kept.includes(name) ? before[name] : next[name]) ?? null]));
}

/** A mistake in a text. */
export interface Flaw {
  line: number;
  column: number;
  offset: number;
  message: string;
}

/** The flaws of a text in the answer of the server. */
export function flawsIn(body: Readonly<Record<string, unknown>>, text: string): Flaw[] {
  return listOf(body.flaws).flatMap((one): Flaw[] => {
    const held = membersOf(one);
    if (!held) return [];
    const [line, column] = [Number(held.line), Number(held.column)];
    return [{ line, column, offset: offsetOf(text, line, column), message: textOf(held.message) }];
  });
}

/** The offset of a line and a column, both from 1 on; a column counts characters, also those of two units. */
export function offsetOf(text: string, line: number, column: number): number {
  let from = 0;
  for (let at = 1; at < line; at++) {
    const end = text.indexOf("\n", from);
    if (end < 0) return text.length;
    from = end + 1;
  }
  const end = text.indexOf("\n", from);
  const characters = [...text.slice(from, end < 0 ? text.length : end)];
  return from + characters.slice(0, column - 1).join("").length;
}
