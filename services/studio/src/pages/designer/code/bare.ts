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
import { SET_BY_SERVER } from "../../../model/make";

/** The same value with another activity in the place of each. */
function mapped(value: Json, change: (activity: Members) => Members): Json {
  if (Array.isArray(value)) return value.map((item) => mapped(item, change));
  if (!isMembers(value)) return value;
  const next = isActivity(value) ? change(value) : value;
  return objectOf(namesOf(next).map((name) => [name, mapped(next[name] ?? null, change)]));
}

/** The activities by their ids. An id that is there twice names none. */
function activitiesIn(doc: Json): Map<string, Members> {
  const found = new Map<string, Members>();
  const seen = new Set<string>();
  const look = (value: Json): void => {
    if (Array.isArray(value)) for (const item of value) look(item);
    if (!isMembers(value)) return;
    if (isActivity(value)) {
      const id = idOf(value);
      if (seen.has(id)) found.delete(id);
      else if (id !== "") found.set(id, value);
      seen.add(id);
    }
    for (const name of namesOf(value)) look(value[name] ?? null);
  };
  look(doc);
  return found;
}

/** The value says nothing: a definition is the same without it. */
function isEmpty(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isMembers(value) ? namesOf(value).every((name) => value[name] === null) : value === null;
}

/** A member of an activity that answers of the server have, and nobody writes. */
function isAdded(name: string, value: Json | undefined): boolean {
  if (name === "version") return value === 1;
  return name === "nodeId" || (["name", "metadata", "customProperties"].includes(name) && isEmpty(value));
}

const isOfServer = (name: string, value: Json | undefined) => SET_BY_SERVER.includes(name) || isEmpty(value);

/** What is left of the metadata of an activity without its place. */
function metadataOf(activity: Members): Members {
  const held = membersOf(activity.metadata) ?? {};
  return objectOf(
    namesOf(held)
      .filter((name) => name !== "designer")
      .map((name) => [name, held[name] ?? null]),
  );
}

/** The object without some of its members. */
function without(from: Members, isLeftOut: typeof isAdded): Members {
  const names = namesOf(from).filter((name) => !isLeftOut(name, from[name]));
  return objectOf(names.map((name) => [name, from[name] ?? null]));
}

/** The object with what was left out of the one before. Members have the order that they had; new ones come last. */
function joined(next: Members, before: Members, isLeftOut: typeof isAdded): Members {
  const old = namesOf(before).filter((name) => name in next || isLeftOut(name, before[name]));
  const names = [...new Set([...old, ...namesOf(next)])];
  return objectOf(names.map((name) => [name, (name in next ? next[name] : before[name]) ?? null]));
}

/** A definition without what the canvas and the server keep in it: the text has only what one writes. */
export function bareOf(doc: Json): Json {
  const known = activitiesIn(doc);
  const bare = mapped(doc, (activity) => {
    if (!known.has(idOf(activity))) return activity;
    const shownOf = (name: string) => (name === "metadata" ? metadataOf(activity) : (activity[name] ?? null));
    const shown = objectOf(namesOf(activity).map((name) => [name, shownOf(name)]));
    return without(shown, isAdded);
  });
  return isMembers(bare) ? without(bare, isOfServer) : bare;
}

/** A definition that was written as text, with what the text does not have from the one before. */
export function completed(written: Json, before: Json): Json {
  const known = activitiesIn(before);
  const next = mapped(written, (activity) => {
    const was = known.get(idOf(activity));
    if (!was) return activity;
    const place = membersOf(was.metadata)?.designer;
    const held = membersOf(activity.metadata) ?? {};
    const placed =
      place === undefined || "designer" in held
        ? activity
        : { ...activity, metadata: { ...held, designer: place } };
    // Another type has another version.
    return was.type === activity.type ? joined(placed, was, isAdded) : placed;
  });
  if (!isMembers(next) || !isMembers(before)) return next;
  const named = textOf(next.definitionId) === "" ? without(next, (name) => name === "definitionId") : next;
  return joined(named, before, (name, value) => name === "definitionId" || isOfServer(name, value));
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
