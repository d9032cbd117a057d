import { idOf } from "../../model/activities";
import { type Alignment, aligned } from "../../model/align";
import { clipOf, clipText, cornerOf, fits, isEmpty, paste, readClip, wrap } from "../../model/clipboard";
import { addActivity, connect, insertInto, type Joined, move, remove, reorder } from "../../model/commands";
import { type ActivityType, shortType } from "../../model/descriptors";
import type { Edit } from "../../model/history";
import { type Members, textOf } from "../../model/json";
import { arrange, HEIGHT, placeFor, WIDTH } from "../../model/layout";
import { freeName, newActivity, newId } from "../../model/make";
import { roomOn } from "../../model/room";
import { addStateTo, freeState, stateName } from "../../model/states";
import { crumbsOf, type Line, type Page, type PageView, type Point, pageOf } from "../../model/view";
import { notify } from "../../ui/notices";
import { cardOf, heightOf, portsOf } from "./cards";
import { type Shown, showAll } from "./fit";
import type { Studio } from "./store";
import { w } from "./words";

/** The first outcome of an activity from which no line starts yet. */
function freeOutcome(studio: Studio, key: string): string | undefined {
  const { index } = studio.get();
  const { view } = studio.here(pageOf(studio.get().index, key));
  const entry = index.get(key);
  if (!entry) return undefined;
  const used = new Set(view.lines.filter((line) => line.from === key).map((line) => line.port));
  return cardOf(entry, index.type(entry)).outcomes.find((outcome) => !used.has(outcome));
}

function firstOutcome(studio: Studio, type: ActivityType): string {
  const made = newActivity(type, "", undefined, false, "new");
  return (
    cardOf({ key: "new", activity: made, path: [], slot: "" }, studio.types.get(type.typeName)).outcomes[0] ??
    "Done"
  );
}

/** The cards of a page that have no place of their own yet, where they are shown: they are to stay there. */
function unplaced({ items }: PageView, places: ReadonlyMap<string, Point>): Map<string, Point> {
  return new Map(
    items.flatMap(({ key, at }) => {
      const shown = places.get(key);
      return at || !shown ? [] : [[key, shown] as const];
    }),
  );
}

/** A step that moves other cards, too. */
function withMoved(studio: Studio, view: PageView, moved: ReadonlyMap<string, Point>, change: Edit): Edit {
  if (moved.size === 0 || (view.kind !== "flow" && view.kind !== "machine")) return change;
  const room = move(studio.get().index, view, moved, change.label);
  return { ...change, patches: [...room.patches, ...change.patches] };
}

/** Adds a state: where it was dropped, joined to what the line came from. */
export function addState(studio: Studio, entry: Members | undefined, how: Joined): void {
  const { index, view, places } = studio.get();
  const taken = new Set(view.items.map((item) => stateName(item.key)));
  const after = how.after ?? how.before;
  const room = how.line && roomOn(how.line.line, places, how.at ?? { x: 0, y: 0 });
  const at = room?.at ?? how.at ?? placeFor(places, after?.key);
  const state: Members = {
    name: freeState("State1", taken),
    ...(entry ? { entry } : {}),
    metadata: { designer: { position: { x: Math.round(at.x), y: Math.round(at.y) } } },
  };
  const moved = new Map([...unplaced(view, places), ...(room?.moved ?? [])]);
  studio.do(withMoved(studio, view, moved, addStateTo(index, view, state, how, w.addState)));
}

/** The steps of a sequence are one below the other, branches are side by side. */
export const isDownward = (view: PageView): boolean => /Sequence$/.test(textOf(view.inside?.type));

/** Where in a list something is that was dropped there: before the first that stands behind it. */
function beforeIn(view: PageView, places: ReadonlyMap<string, Point>, at: Point): Joined["before"] {
  const isDown = isDownward(view);
  const next = view.items.find(({ key }) => {
    const place = places.get(key);
    return place && (isDown ? place.y > at.y : place.x > at.x);
  });
  return next && { key: next.key, port: "Done" };
}

/** Whether a card stands left of another or above it, and not behind it in the other direction. */
const isBefore = (one: Point, other: Point): boolean =>
  (one.x + WIDTH <= other.x && one.y < other.y + HEIGHT) ||
  (one.y + HEIGHT <= other.y && one.x < other.x + WIDTH);

/** Whether what is added stands in front of all that is there: only then can a trigger be the start. */
function isInFront(
  { kind, items, lines }: PageView,
  places: ReadonlyMap<string, Point>,
  { after, before, line, at }: Joined,
): boolean {
  if (after || line) return false;
  if (items.length === 0) return true;
  if (kind === "machine") return false;
  if (kind === "list") return before?.key === items[0]?.key;
  if (before) return !lines.some((one) => one.to === before.key);
  return items.every(({ key }) => {
    const place = places.get(key);
    return at !== undefined && place !== undefined && isBefore(at, place);
  });
}

/** Adds an activity of a type: where it was dropped, or after the one that is selected. */
export function addType(studio: Studio, type: ActivityType, how: Joined = {}, page?: Page): void {
  const { index, selected } = studio.get();
  const { view, places } = studio.here(page);
  const isRoot = view.path.join("/") === "root";
  const hasStart = [...index.entries.values()].some((entry) => cardOf(entry, index.type(entry)).isStart);
  const chosen = selected.length === 1 ? selected[0] : undefined;
  const only = view.items.some((item) => item.key === chosen) ? chosen : undefined;
  const joined: Joined = { ...how };
  if (!how.at && !how.after && !how.line && only !== undefined && view.kind !== "machine") {
    const port = view.kind === "list" ? "Done" : freeOutcome(studio, only);
    if (port !== undefined) joined.after = { key: only, port };
  }
  if (how.at && view.kind === "list" && !how.line) joined.before = beforeIn(view, places, how.at);
  joined.at ??= placeFor(places, joined.after?.key ?? only, (key) => portsOf(studio.get().index, key));
  if (how.line) joined.line = { ...how.line, port: firstOutcome(studio, type) };
  const room = how.line && view.kind === "flow" ? roomOn(how.line.line, places, joined.at) : undefined;
  if (room) joined.at = room.at;
  const activity = newActivity(
    type,
    freeName(index, type.typeName),
    view.kind === "list" ? undefined : joined.at,
    isRoot && !hasStart && isInFront(view, places, joined),
  );
  if (view.kind === "machine") {
    addState(studio, activity, how);
    return;
  }
  const change = addActivity(index, view, activity, joined, how.line ? w.did.insert : w.did.add);
  const moved = new Map([...unplaced(view, places), ...(room?.moved ?? [])]);
  studio.do(withMoved(studio, view, moved, change));
}

/** Puts an activity without lines into a line on which it was let go. */
export function insertAt(studio: Studio, key: string, line: Line, port: string, wanted: Point): void {
  const { index, view, places } = studio.get();
  const others = new Map([...places].filter(([other]) => other !== key));
  const { at, moved } = roomOn(line, others, wanted);
  const change = insertInto(index, view, key, { line, port, at }, w.did.insert);
  studio.do(withMoved(studio, view, new Map([...unplaced(view, others), ...moved]), change));
}

export function removeSelected(studio: Studio, label = w.did.remove): void {
  const { index, selected, lines } = studio.get();
  const { view } = studio.here();
  if (selected.length > 0 || lines.length > 0) studio.do(remove(index, view, selected, lines, label));
}

export function copySelected(studio: Studio): string | undefined {
  const { selected } = studio.get();
  const { view } = studio.here();
  const clip = clipOf(view, selected);
  return isEmpty(clip) ? undefined : clipText(clip);
}

let pastes = 0;

/** Puts copied text on the page, or says why not; false if it holds neither activities nor states. */
export function pasteText(studio: Studio, text: string): boolean {
  const clip = readClip(text);
  if (!clip) return false;
  const { index } = studio.get();
  const { view, places } = studio.here();
  if (!fits(view, clip)) {
    notify(clip.states ? w.statesOnly : w.noActivities);
    return true;
  }
  const isHere =
    clip.activities.some((activity) => index.get(idOf(activity))) ||
    clip.states?.some((state) => places.has(`state:${textOf(state.name)}`)) === true;
  const corner = cornerOf(clip) ?? { x: 0, y: 0 };
  const free = placeFor(places);
  const step = 32 * (1 + (pastes++ % 8));
  const by = isHere ? { x: step, y: step } : { x: free.x - corner.x, y: free.y - corner.y };
  studio.do(paste(index, view, clip, by, w.did.paste));
  return true;
}

export function duplicateSelected(studio: Studio): void {
  const { index, selected } = studio.get();
  const { view } = studio.here();
  const clip = clipOf(view, selected);
  if (!isEmpty(clip)) studio.do(paste(index, view, clip, { x: 32, y: HEIGHT + 48 }, w.did.duplicate));
}

/** Arranges the page, and shows all of it. */
export function arrangeAll(studio: Studio, flow?: Shown): void {
  const { index, view } = studio.get();
  const places = arrange(
    view,
    (key) => heightOf(index, key),
    (key) => portsOf(index, key),
  );
  studio.do(move(index, view, places, w.did.layout));
  if (flow) showAll(studio, flow);
}

/** Moves activities; those that had no place yet keep the one that they were shown at. */
export function moveTo(
  studio: Studio,
  points: ReadonlyMap<string, Point>,
  label = w.did.move,
  merge?: string,
): void {
  const { index } = studio.get();
  const { view, places } = studio.here();
  const all = new Map([...unplaced(view, places), ...points]);
  const change = move(index, view, all, label);
  studio.do(merge === undefined ? change : { ...change, merge });
}

export function alignSelected(studio: Studio, how: Alignment): void {
  const { index, selected } = studio.get();
  const { places } = studio.here();
  const points = aligned(places, selected, how, (key) => {
    const entry = index.get(key);
    return entry ? cardOf(entry, index.type(entry)).height : HEIGHT;
  });
  if (points.size > 0) moveTo(studio, points, w.did.align);
}

export function wrapSelected(studio: Studio, typeName: string): void {
  const { index, selected } = studio.get();
  const { view } = studio.here();
  const type = studio.types.get(typeName);
  if (!type || selected.length === 0) return;
  const container = newActivity(type, freeName(index, typeName), undefined, false, newId());
  studio.do(wrap(index, view, selected, container, `${w.did.wrap}: ${shortType(typeName)}`));
}

/** Moves an activity of a list by so many places. */
export function reorderBy(studio: Studio, key: string, by: number): void {
  studio.do(reorder(studio.get().index, key, by, w.did.reorder));
}

export function nudge(studio: Studio, x: number, y: number): void {
  const { selected } = studio.get();
  const { view, places } = studio.here();
  if (view.kind === "list") {
    const key = selected[0];
    if (key !== undefined && y !== 0) reorderBy(studio, key, Math.sign(y));
    return;
  }
  const points = selected.flatMap((key) => {
    const at = places.get(key);
    return at ? [[key, { x: at.x + x, y: at.y + y }] as const] : [];
  });
  if (points.length > 0) moveTo(studio, new Map(points), w.did.move, "nudge");
}

/** Selects what a line leads to or comes from, or what is above or below. */
export function selectAlong(studio: Studio, key: "ArrowRight" | "ArrowLeft" | "ArrowUp" | "ArrowDown"): void {
  const { selected } = studio.get();
  const { view, places } = studio.here();
  const from = selected[0] ?? view.items[0]?.key;
  if (from === undefined) return;
  if (selected.length === 0) {
    studio.select([from]);
    return;
  }
  const isForward = key === (view.kind === "list" ? "ArrowDown" : "ArrowRight");
  const isBack = key === (view.kind === "list" ? "ArrowUp" : "ArrowLeft");
  if (isForward || isBack) {
    const line = view.lines.find((one) => (isForward ? one.from : one.to) === from);
    if (line) studio.select([isForward ? line.to : line.from]);
    return;
  }
  const sign = key === "ArrowDown" ? 1 : -1;
  const here = places.get(from) ?? { x: 0, y: 0 };
  const near = [...places]
    .filter(([, at]) => (at.y - here.y) * sign > 4)
    .sort(
      ([, one], [, other]) =>
        Math.abs(one.y - here.y) +
        Math.abs(one.x - here.x) -
        Math.abs(other.y - here.y) -
        Math.abs(other.x - here.x),
    );
  if (near[0]) studio.select([near[0][0]]);
}

export function connectTo(studio: Studio, from: string, port: string | undefined, to: string): void {
  const { index, view } = studio.get();
  const outcome = port ?? freeOutcome(studio, from) ?? "Done";
  studio.do(connect(index, view, from, outcome, to, w.did.connect));
}

export function openInside(studio: Studio): void {
  const { index, selected, view } = studio.get();
  const entry = selected[0] === undefined ? undefined : index.get(selected[0]);
  const chip = entry && cardOf(entry, index.type(entry)).chips[0];
  if (chip) studio.open(chip.page);
  else if (view.kind === "machine") {
    const item = view.items.find((one) => one.key === selected[0]);
    if (item) studio.open({ owner: view.key ?? "", slot: `states/${item.path.at(-1)}/entry` });
  }
}

export function openAbove(studio: Studio): void {
  const { index, page } = studio.get();
  const crumbs = crumbsOf(index, page);
  const above = crumbs.at(-2);
  if (above) studio.open(above.page, crumbs.at(-1)?.key ? [crumbs.at(-1)?.key ?? ""] : []);
}
