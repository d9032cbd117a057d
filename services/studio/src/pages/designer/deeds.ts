import { idOf } from "../../model/activities";
import { type Alignment, aligned } from "../../model/align";
import { clipOf, clipText, paste, readClip, wrap } from "../../model/clipboard";
import { addActivity, connect, type Joined, move, remove, reorder } from "../../model/commands";
import { type ActivityType, shortType } from "../../model/descriptors";
import type { Members } from "../../model/json";
import { arrange, HEIGHT, placeFor } from "../../model/layout";
import { freeName, newActivity, newId } from "../../model/make";
import { Steps } from "../../model/steps";
import { crumbsOf, type Page, type Point, pageOf } from "../../model/view";
import { cardOf, heightOf, portsOf } from "./cards";
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

export function addState(studio: Studio, entry: Members | undefined, at: Point | undefined): void {
  const { index, view, places } = studio.get();
  const names = new Set(view.items.map((item) => item.key));
  let number = 1;
  while (names.has(`state:State${number}`)) number++;
  const place = at ?? placeFor(places);
  const state: Members = {
    name: `State${number}`,
    ...(entry ? { entry } : {}),
    metadata: { designer: { position: { ...place } } },
  };
  studio.do(
    new Steps(index.doc)
      .append([...view.path, "states"], state)
      .edit(w.addState, { select: [`state:State${number}`] }),
  );
}

/** Adds an activity of a type: where it was dropped, or after the one that is selected. */
export function addType(studio: Studio, type: ActivityType, how: Joined = {}, page?: Page): void {
  const { index, selected } = studio.get();
  const { view, places } = studio.here(page);
  const isRoot = view.path.join("/") === "root";
  const isFirst =
    isRoot && ![...index.entries.values()].some((entry) => cardOf(entry, index.type(entry)).isStart);
  const chosen = selected.length === 1 ? selected[0] : undefined;
  const only = view.items.some((item) => item.key === chosen) ? chosen : undefined;
  const joined: Joined = { ...how };
  if (!how.at && !how.after && !how.line && only !== undefined && view.kind !== "machine") {
    const port = view.kind === "list" ? "Done" : freeOutcome(studio, only);
    if (port !== undefined) joined.after = { key: only, port };
  }
  joined.at ??= placeFor(places, joined.after?.key ?? only);
  if (how.line) joined.line = { ...how.line, port: firstOutcome(studio, type) };
  const activity = newActivity(
    type,
    freeName(index, type.typeName),
    view.kind === "list" ? undefined : joined.at,
    isFirst,
  );
  if (view.kind === "machine") addState(studio, activity, how.at);
  else studio.do(addActivity(index, view, activity, joined, how.line ? w.did.insert : w.did.add));
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
  return clip.activities.length > 0 ? clipText(clip) : undefined;
}

let pastes = 0;

/** Puts copied text on the page; false if it holds no activities. */
export function pasteText(studio: Studio, text: string): boolean {
  const clip = readClip(text);
  if (!clip) return false;
  const { index } = studio.get();
  const { view } = studio.here();
  const isHere = clip.activities.some((activity) => index.get(idOf(activity)));
  const by = isHere ? 32 * (1 + (pastes++ % 8)) : 0;
  studio.do(paste(index, view, clip, { x: by, y: by }, w.did.paste));
  return true;
}

export function duplicateSelected(studio: Studio): void {
  const { index, selected } = studio.get();
  const { view } = studio.here();
  const clip = clipOf(view, selected);
  if (clip.activities.length > 0)
    studio.do(paste(index, view, clip, { x: 32, y: HEIGHT + 24 }, w.did.duplicate));
}

export function arrangeAll(studio: Studio): void {
  const { index, view } = studio.get();
  const places = arrange(
    view,
    (key) => heightOf(index, key),
    (key) => portsOf(index, key),
  );
  studio.do(move(index, view, places, w.did.layout));
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
  const all = new Map(points);
  for (const item of view.items) {
    const shown = places.get(item.key);
    if (!item.at && shown && !all.has(item.key)) all.set(item.key, shown);
  }
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

export function nudge(studio: Studio, x: number, y: number): void {
  const { selected, index } = studio.get();
  const { view, places } = studio.here();
  if (view.kind === "list") {
    const key = selected[0];
    if (key !== undefined && y !== 0) studio.do(reorder(index, view, key, Math.sign(y), w.did.reorder));
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
