import { type ActivityType, memberOf, shortType, type Types, wordsOf } from "./descriptors";
import { isMembers, type Json, listOf, type Members, membersOf, textOf } from "./json";
import type { Path } from "./patch";

/** An activity is an object with a type. Inputs have a `typeName`, conditions a `value`. */
export function isActivity(value: unknown): value is Members {
  if (!isMembers(value) || typeof value.type !== "string" || "typeName" in value) return false;
  return "id" in value || !("value" in value);
}

export const idOf = (activity: Members): string => textOf(activity.id);
export const typeOf = (activity: Members): string => textOf(activity.type);
export const isFlowchart = (activity: Members): boolean => shortType(typeOf(activity)) === "Flowchart";
export const isMachine = (activity: Members): boolean => typeOf(activity) === "Elsa.StateMachine";

/** The member that holds the children of a container. */
export function childrenMember(activity: Members): string | undefined {
  if (typeOf(activity) === "Elsa.Fork") return "branches";
  if (/^(Flowchart|Sequence|Parallel)$/.test(shortType(typeOf(activity)))) return "activities";
  return listOf(activity.activities).some(isActivity) ? "activities" : undefined;
}

export function nameOf(activity: Members, type?: ActivityType): string {
  const shown = textOf(membersOf(activity.metadata)?.displayText);
  return shown || textOf(activity.name) || type?.displayName || wordsOf(shortType(typeOf(activity)));
}

/** A place in an activity for one other activity: the body of a loop, a case, the entry of a state. */
export interface Slot {
  /** The way to it from its activity, such as `then` or `cases/0/activity`. */
  slot: string;
  label: string;
  /** Which of the places of a state or of a transition it is. */
  part?: "entry" | "exit" | "trigger" | "action";
  activity?: Members;
}

function slotsOfItems(member: string, items: Json[], word: string): Slot[] {
  return items.flatMap((item, at): Slot[] => {
    const held = membersOf(item);
    if (!held) return [];
    const name = textOf(held.label) || textOf(held.name) || textOf(held.displayName);
    // Of a case that has no code yet, its number is known.
    const label = name || String(held.statusCode ?? "") || `${word} ${at + 1}`;
    const place = (inner: string, word: string): Slot => ({
      slot: `${member}/${at}/${inner}`,
      label: word,
      activity: isActivity(held[inner]) ? held[inner] : undefined,
    });
    const part = (inner: "entry" | "exit" | "trigger" | "action") => ({
      ...place(inner, label),
      part: inner,
    });
    if (member === "states") return [part("entry"), part("exit")];
    if (member === "transitions") return [part("trigger"), part("action")];
    if ("activity" in held || member === "cases" || member === "expectedStatusCodes")
      return [place("activity", label)];
    return [];
  });
}

const PLAIN = new Set(["metadata", "customProperties", "variables", "connections"]);

/** The places for activities, in the order in which a reader expects them. */
export function slotsOf(activity: Members, type: ActivityType | undefined): Slot[] {
  const slots: Slot[] = [];
  const seen = new Set<string>();
  const isFlowSwitch = typeOf(activity) === "Elsa.FlowSwitch";
  for (const [member, value] of Object.entries(activity)) {
    if (PLAIN.has(member) || member === childrenMember(activity) || isFlowSwitch) continue;
    if (!Array.isArray(value)) continue;
    const input = type?.inputs.find((one) => memberOf(one.name) === member);
    slots.push(...slotsOfItems(member, value, input?.displayName ?? wordsOf(member)));
  }
  for (const port of type?.ports ?? []) {
    if (port.type !== "Embedded") continue;
    const slot = memberOf(port.name);
    const held = activity[slot];
    // What nobody is to fill is shown only where something is in it.
    if (!port.isBrowsable && !isActivity(held)) continue;
    seen.add(slot);
    slots.push({ slot, label: wordsOf(port.displayName), activity: isActivity(held) ? held : undefined });
  }
  for (const [member, value] of Object.entries(activity)) {
    if (!PLAIN.has(member) && !seen.has(member) && isActivity(value)) {
      slots.push({
        slot: member,
        label: wordsOf(member.charAt(0).toUpperCase() + member.slice(1)),
        activity: value,
      });
    }
  }
  return slots;
}

export const slotPath = (slot: string): Path =>
  slot === "" ? [] : slot.split("/").map((step) => (/^\d+$/.test(step) ? Number(step) : step));

/** Where an activity is. */
export interface Entry {
  key: string;
  activity: Members;
  path: Path;
  /** The key of the activity around it; none for the root. */
  owner?: string;
  /** The place in its owner; empty for a child of a container. */
  slot: string;
}

const shared = new WeakMap<Index, ReadonlySet<string>>();

/** The names that several activities of a definition have. */
function sharedNames(index: Index): ReadonlySet<string> {
  const known = shared.get(index);
  if (known) return known;
  const seen = new Set<string>();
  const found = new Set<string>();
  for (const entry of index.entries.values()) {
    const name = nameOf(entry.activity, index.type(entry));
    if (seen.has(name)) found.add(name);
    seen.add(name);
  }
  shared.set(index, found);
  return found;
}

/** The key of an activity whose name others have, too; it tells them apart. */
export const keyBeside = (index: Index, entry: Entry): string | undefined =>
  sharedNames(index).has(nameOf(entry.activity, index.type(entry))) ? entry.key : undefined;

/** The name of an activity, with its key where others have the same name. */
export function titleOf(index: Index, entry: Entry): string {
  const name = nameOf(entry.activity, index.type(entry));
  const key = keyBeside(index, entry);
  return key === undefined ? name : `${name} (${key})`;
}

/** All activities of a definition, in the order of its text. */
export class Index {
  readonly entries = new Map<string, Entry>();
  private readonly below = new Map<string, Entry[]>();
  readonly doubles: Entry[] = [];

  constructor(
    readonly doc: Json,
    readonly types: Types,
  ) {
    const root = membersOf(doc)?.root;
    if (isActivity(root)) this.add(root, ["root"], undefined, "root");
  }

  private add(activity: Members, path: Path, owner: string | undefined, slot: string): void {
    const id = idOf(activity);
    const isFree = id !== "" && !this.entries.has(id);
    const key = isFree ? id : `/${path.join("/")}`;
    const entry: Entry = { key, activity, path, owner, slot };
    if (id && !isFree) this.doubles.push(entry);
    this.entries.set(key, entry);
    if (owner !== undefined) {
      const siblings = this.below.get(owner);
      if (siblings) siblings.push(entry);
      else this.below.set(owner, [entry]);
    }
    const member = childrenMember(activity);
    if (member) {
      const items = listOf(activity[member]);
      for (const [at, child] of items.entries()) {
        if (isActivity(child)) this.add(child, [...path, member, at], key, "");
      }
    }
    for (const inner of slotsOf(activity, this.types.get(typeOf(activity), activity.version))) {
      if (inner.activity) this.add(inner.activity, [...path, ...slotPath(inner.slot)], key, inner.slot);
    }
  }

  get(key: string): Entry | undefined {
    return this.entries.get(key);
  }

  children(key: string): readonly Entry[] {
    return this.below.get(key) ?? [];
  }

  root(): Entry | undefined {
    return this.entries.values().next().value;
  }

  type(entry: Entry): ActivityType | undefined {
    return this.types.get(typeOf(entry.activity), entry.activity.version);
  }

  /** From the root to the activity, with both. */
  line(key: string): Entry[] {
    const line: Entry[] = [];
    let entry = this.get(key);
    while (entry) {
      line.unshift(entry);
      entry = entry.owner === undefined ? undefined : this.get(entry.owner);
    }
    return line;
  }
}
