import dagre from "@dagrejs/dagre";
import type { Line, PageView, Point } from "./view";

export const WIDTH = 200;
export const HEIGHT = 56;
/** A card is drawn narrower than its place: Elsa puts places side by side, and the line between them is to be seen. */
export const CARD = 180;
/** Between a card and the one that it leads to. */
export const GAP = 72;
/** A line beside a card is seen from this length on, and a card can be read from this width on. */
const LINE = 20;
const CARD_MIN = 100;

/**
 * The widths of cards that would touch the next one: Elsa's cards are as wide as their names, and their places stay as
 * they are. Cards that lie upon each other keep their width.
 */
export function narrowed(
  places: ReadonlyMap<string, Point>,
  height: (key: string) => number = () => HEIGHT,
): Map<string, number> {
  const widths = new Map<string, number>();
  const all = [...places].sort(([, one], [, other]) => one.x - other.x);
  for (const [at, [key, place]] of all.entries()) {
    for (const [other, { x, y }] of all.slice(at + 1)) {
      const gap = x - place.x;
      if (gap >= CARD + LINE) break;
      const isBeside = y < place.y + height(key) && place.y < y + height(other);
      if (!isBeside || gap < CARD_MIN + LINE) continue;
      widths.set(key, gap - LINE);
      break;
    }
  }
  return widths;
}
/** The letters of an outcome beside its card, and what stands before and after them. */
const LETTER = 6;
const AROUND_LABEL = 30;
const OVERVIEW_MIN = 40;

/** How high an overview is: a flat one covers no more of the page than it needs. */
export function overviewHeight(of: { width: number; height: number }, width: number, most: number): number {
  const whole = (width * of.height) / Math.max(of.width, 1) + OVERVIEW_MIN / 2;
  return Math.round(Math.min(most, Math.max(OVERVIEW_MIN, whole)));
}

/** How far from its card a line turns that passes no names of outcomes, and what is free beside such a name. */
export const TURN = 24;
const BESIDE_NAME = 17;
const NAME_MOST = 28;

/** How far from its card a line turns: past the names of outcomes that stand there, with which it would cross. */
export function turnOf(outcomes: readonly string[]): number {
  const longest = outcomes.length > 1 ? Math.max(...outcomes.map((name) => name.length)) : 0;
  return longest === 0 ? TURN : Math.max(TURN, BESIDE_NAME + Math.min(longest, NAME_MOST) * LETTER);
}

/** Lists are close together; between states there are the names of transitions. */
const RANKS: Partial<Record<PageView["kind"], number>> = { list: 48, machine: 176 };

const direction = (view: PageView): "LR" | "TB" => (view.kind === "list" ? "TB" : "LR");

/** How often lines from one activity cross: an outcome that is above another one should lead above it. */
function inversions(view: PageView, places: ReadonlyMap<string, Point>, ports: Ports): number {
  const bySource = new Map<string, Line[]>();
  for (const line of view.lines) bySource.set(line.from, [...(bySource.get(line.from) ?? []), line]);
  let count = 0;
  for (const [key, lines] of bySource) {
    if (lines.length < 2) continue;
    const order = ports(key);
    const sorted = [...lines].sort((one, other) => order.indexOf(one.port) - order.indexOf(other.port));
    for (const [at, line] of sorted.entries()) {
      const y = places.get(line.to)?.y ?? 0;
      for (const later of sorted.slice(at + 1)) if ((places.get(later.to)?.y ?? 0) < y) count++;
    }
  }
  return count;
}

/** The outcomes of an activity, from top to bottom. */
export type Ports = (key: string) => readonly string[];

/** How wide an activity is with the names of its outcomes, which stand on its right side. */
export function widthOf(outcomes: readonly string[]): number {
  // The name of a single outcome is not shown.
  if (outcomes.length < 2) return WIDTH;
  const longest = Math.max(...outcomes.map((outcome) => outcome.length));
  return Math.max(WIDTH, CARD + AROUND_LABEL + longest * LETTER - GAP);
}

/** Places for all activities of a page, from its lines; turned over where fewer lines cross then. */
export function arrange(
  view: PageView,
  height: (key: string) => number = () => HEIGHT,
  ports: Ports = () => [],
): Map<string, Point> {
  const places = arranged(view, height, ports);
  if (direction(view) === "TB") return places;
  const bottom = Math.max(0, ...[...places].map(([key, { y }]) => y + height(key)));
  const turned = new Map(
    [...places].map(([key, { x, y }]) => [key, { x, y: bottom - y - height(key) }] as const),
  );
  return inversions(view, turned, ports) < inversions(view, places, ports) ? turned : places;
}

function arranged(view: PageView, height: (key: string) => number, ports: Ports): Map<string, Point> {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  const isList = direction(view) === "TB";
  graph.setGraph({ rankdir: direction(view), nodesep: isList ? 48 : 32, ranksep: RANKS[view.kind] ?? GAP });
  graph.setDefaultEdgeLabel(() => ({}));
  const width = (key: string) => (view.kind === "flow" ? widthOf(ports(key)) : WIDTH);
  for (const { key } of view.items) graph.setNode(key, { width: width(key), height: height(key) });
  for (const line of view.lines) {
    if (graph.hasNode(line.from) && graph.hasNode(line.to)) graph.setEdge(line.from, line.to, {}, line.id);
  }
  dagre.layout(graph);
  return new Map(
    view.items.map((item): [string, Point] => {
      const node = graph.node(item.key);
      const x = Math.round((node.x ?? 0) - width(item.key) / 2);
      return [item.key, { x, y: Math.round((node.y ?? 0) - height(item.key) / 2) }];
    }),
  );
}

const hides = (one: Point, other: Point): boolean =>
  Math.abs(one.x - other.x) < WIDTH && Math.abs(one.y - other.y) < HEIGHT + 32;

/** The wanted place, or the next one below it where nothing is covered. */
export function freePlace(wanted: Point, taken: readonly Point[]): Point {
  let place = wanted;
  for (let tries = 0; tries < 200; tries++) {
    const other = taken.find((one) => hides(one, place));
    if (!other) return place;
    place = { x: place.x, y: other.y + HEIGHT + 48 };
  }
  return place;
}

function beside(
  key: string,
  lines: readonly Line[],
  placed: ReadonlyMap<string, Point>,
  ports: Ports,
): Point | undefined {
  for (const line of lines) {
    const before = line.to === key ? placed.get(line.from) : undefined;
    if (before) return { x: before.x + widthOf(ports(line.from)) + GAP, y: before.y };
  }
  for (const line of lines) {
    const after = line.from === key ? placed.get(line.to) : undefined;
    if (after) return { x: after.x - widthOf(ports(key)) - GAP, y: after.y };
  }
  return undefined;
}

/** Where a page shows its activities: where they were put, and the others beside those. */
export function placesOf(
  view: PageView,
  height?: (key: string) => number,
  ports: Ports = () => [],
): Map<string, Point> {
  if (view.kind === "list") return arrange(view, height);
  const placed = new Map(view.items.flatMap((item) => (item.at ? [[item.key, item.at] as const] : [])));
  if (placed.size === view.items.length) return placed;
  if (placed.size === 0) return arrange(view, height, ports);
  let rest = view.items.filter((item) => !item.at);
  const taken = [...placed.values()];
  while (rest.length > 0) {
    const next = rest.find((item) => beside(item.key, view.lines, placed, ports)) ?? rest[0];
    if (!next) break;
    const low = Math.max(...taken.map((point) => point.y));
    const left = Math.min(...taken.map((point) => point.x));
    const wanted = beside(next.key, view.lines, placed, ports) ?? { x: left, y: low + HEIGHT + 48 };
    const place = freePlace(wanted, taken);
    placed.set(next.key, place);
    taken.push(place);
    rest = rest.filter((item) => item !== next);
  }
  return placed;
}

/** A place for a new activity: beside the selected one, or under all. */
export function placeFor(places: ReadonlyMap<string, Point>, after?: string, ports: Ports = () => []): Point {
  const taken = [...places.values()];
  const before = after === undefined ? undefined : places.get(after);
  if (before && after !== undefined)
    return freePlace({ x: before.x + widthOf(ports(after)) + GAP, y: before.y }, taken);
  if (taken.length === 0) return { x: 0, y: 0 };
  return freePlace(
    {
      x: Math.min(...taken.map((point) => point.x)),
      y: Math.max(...taken.map((point) => point.y)) + HEIGHT + 48,
    },
    taken,
  );
}
