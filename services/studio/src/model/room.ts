import { freePlace, GAP, HEIGHT, WIDTH } from "./layout";
import type { Line, Point } from "./view";

const MARGIN = 32;

/** Where a card on a line stands, and where other cards go for it. */
export interface Room {
  at: Point;
  moved: ReadonlyMap<string, Point>;
}

/** Room for a card on a line: what stands to the right of the line is moved if the card does not fit. */
export function roomOn(line: Line, places: ReadonlyMap<string, Point>, wanted: Point): Room {
  const from = places.get(line.from);
  const to = places.get(line.to);
  const gap = from && to ? to.x - from.x - WIDTH : -1;
  if (!from || !to || gap < 0)
    return { at: freePlace(wanted, [...places.values()]), moved: new Map<string, Point>() };
  if (gap >= WIDTH + 2 * MARGIN) {
    const x = Math.min(Math.max(wanted.x, from.x + WIDTH + MARGIN), to.x - WIDTH - MARGIN);
    return { at: freePlace({ x, y: wanted.y }, [...places.values()]), moved: new Map<string, Point>() };
  }
  const by = WIDTH + 2 * GAP - gap;
  const moved = new Map<string, Point>();
  for (const [key, at] of places) {
    if (at.x >= to.x - WIDTH / 2) moved.set(key, { x: at.x + by, y: at.y });
  }
  const taken = [...places].map(([key, at]) => moved.get(key) ?? at);
  return { at: freePlace({ x: from.x + WIDTH + GAP, y: to.y }, taken), moved };
}

export interface Size {
  width: number;
  height: number;
}

/** What stands below an opened card goes down, so that its inside covers nothing. */
export function spread(
  places: ReadonlyMap<string, Point>,
  height: (key: string) => number,
  insides: ReadonlyMap<string, Size>,
): ReadonlyMap<string, Point> {
  if (insides.size === 0) return places;
  const shown = new Map(places);
  const down = [...insides].sort(([one], [other]) => (places.get(one)?.y ?? 0) - (places.get(other)?.y ?? 0));
  for (const [key, size] of down) {
    const at = shown.get(key);
    if (!at) continue;
    const top = at.y + height(key);
    const bottom = top + size.height + MARGIN;
    const right = at.x + Math.max(WIDTH, size.width);
    const covered = [...shown].filter(
      ([other, { x, y }]) =>
        other !== key && x < right && x + WIDTH > at.x && y < bottom && y + height(other) > top,
    );
    const first = Math.min(...covered.map(([, { y }]) => y));
    for (const [other, { x, y }] of shown) {
      if (covered.length > 0 && other !== key && y >= first) shown.set(other, { x, y: y + bottom - first });
    }
  }
  return shown;
}

/** The place that a point of the spread page has when nothing is opened. */
export function gathered(
  point: Point,
  places: ReadonlyMap<string, Point>,
  shown: ReadonlyMap<string, Point>,
): Point {
  let by = 0;
  for (const [key, at] of shown) {
    if (at.y <= point.y + HEIGHT) by = Math.max(by, at.y - (places.get(key)?.y ?? at.y));
  }
  return { x: point.x, y: point.y - by };
}
