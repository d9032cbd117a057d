import {
  childrenMember,
  type Entry,
  type Index,
  idOf,
  isMachine,
  nameOf,
  type Slot,
  slotsOf,
  typeOf,
} from "../../model/activities";
import { type ActivityType, shortType, wordsOf } from "../../model/descriptors";
import { listOf, type Members, membersOf, textOf } from "../../model/json";
import { HEIGHT } from "../../model/layout";
import { outcomesOf } from "../../model/outcomes";
import type { Item, Page } from "../../model/view";
import { w } from "./words";

export interface Chip {
  label: string;
  page: Page;
  count: number;
}

/** What a card shows of an activity. */
export interface CardView {
  key: string;
  name: string;
  type: string;
  /** What stands below the name: the type, or the id where the name is that of the type. */
  about: string;
  glyph: string;
  outcomes: readonly string[];
  chips: readonly Chip[];
  isStart: boolean;
  height: number;
}

const ROW = 18;

/** A place of an activity in words. */
export const slotWord = ({ label, part }: Slot): string => (part ? `${label}: ${w[part]}` : label);

export const cardHeight = (outcomes: number): number => Math.max(HEIGHT, outcomes * ROW + 4);

/** The glyph of a category; the name is beside it. */
export function glyphOf(type: ActivityType | undefined): string {
  if (!type) return "unknown";
  if (type.typeName === "Elsa.FlowDecision" || type.typeName === "Elsa.If") return "decision";
  return type.category.toLowerCase();
}

function countIn(activity: Members | undefined): number {
  if (!activity) return 0;
  const member = childrenMember(activity);
  return member ? listOf(activity[member]).length : 1;
}

function chipsOf(entry: Entry, type: ActivityType | undefined): Chip[] {
  const { activity, key } = entry;
  if (childrenMember(activity))
    return [{ label: "", page: { owner: key, slot: "" }, count: countIn(activity) }];
  if (isMachine(activity))
    return [{ label: "", page: { owner: key, slot: "" }, count: listOf(activity.states).length }];
  return slotsOf(activity, type).map((slot) => ({
    label: slotWord(slot),
    page: { owner: key, slot: slot.slot },
    count: countIn(slot.activity),
  }));
}

interface Kept {
  type: ActivityType | undefined;
  key: string;
  card: CardView;
  /** The same with lines from outcomes that the type does not have. */
  more?: { used: string; card: CardView };
}

const kept = new WeakMap<Members, Kept>();

function isStarting(activity: Members, type: ActivityType | undefined): boolean {
  const custom = membersOf(activity.customProperties);
  return (
    type?.isStart === true ||
    (custom?.canStartWorkflow ?? custom?.CanStartWorkflow ?? activity.canStartWorkflow) === true
  );
}

function keptOf(entry: Entry, type: ActivityType | undefined): Kept {
  const { activity, key } = entry;
  const was = kept.get(activity);
  if (was && was.type === type && was.key === key) return was;
  const outcomes = outcomesOf(activity, type);
  const name = nameOf(activity, type);
  const called = type?.displayName ?? wordsOf(shortType(typeOf(activity)));
  const card: CardView = {
    key,
    name,
    type: called,
    about: name === called ? idOf(activity) : called,
    glyph: glyphOf(type),
    outcomes,
    chips: chipsOf(entry, type),
    isStart: isStarting(activity, type),
    height: cardHeight(outcomes.length),
  };
  const made = { type, key, card };
  kept.set(activity, made);
  return made;
}

/** The card of an activity; it is the same object while the activity is. */
export function cardOf(entry: Entry, type: ActivityType | undefined, used: readonly string[] = []): CardView {
  const held = keptOf(entry, type);
  const { card } = held;
  if (used.every((port) => card.outcomes.includes(port))) return card;
  const key = used.join("\n");
  if (held.more?.used !== key) {
    const outcomes = [...new Set([...card.outcomes, ...used])];
    held.more = { used: key, card: { ...card, outcomes, height: cardHeight(outcomes.length) } };
  }
  return held.more.card;
}

/** The card of a state of a state machine. */
export function stateCard(item: Item, inside: Members, owner: string): CardView {
  const state = item.state ?? {};
  const name = textOf(state.name);
  const at = Number(item.path.at(-1));
  const chip = (slot: string): Chip => ({
    label: slot,
    page: { owner, slot: `states/${at}/${slot}` },
    count: countIn(membersOf(state[slot])),
  });
  return {
    key: item.key,
    name,
    type: "",
    about: "",
    glyph: "state",
    outcomes: [""],
    chips: [chip("entry"), chip("exit")],
    isStart: textOf(inside.initialState) === name,
    height: HEIGHT,
  };
}

/** With the row of its chips. */
export function heightOf(index: Index, key: string): number {
  const entry = index.get(key);
  if (!entry) return HEIGHT + 24;
  const card = cardOf(entry, index.type(entry));
  return card.height + (card.chips.length > 0 ? 24 : 0);
}

export function portsOf(index: Index, key: string): readonly string[] {
  const entry = index.get(key);
  return entry ? cardOf(entry, index.type(entry)).outcomes : [];
}
