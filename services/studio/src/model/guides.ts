import { HEIGHT, WIDTH } from "./layout";
import type { Point } from "./view";

export interface Box extends Point {
  height: number;
}

/** A line along which boxes stand; `at` is its place across, `from` and `to` are along it. */
export interface Guide {
  along: "x" | "y";
  at: number;
  from: number;
  to: number;
  /** It shows where in a list something comes that is let go. */
  isDrop?: boolean;
}

export interface Guided {
  /** How far what is dragged must go to stand in line. */
  by: Point;
  guides: Guide[];
}

/** Nearer than this, what is dragged is put in line. */
export const NEAR = 6;

const edgesAcross = ({ y, height }: Box): [number, number, number] => [y + height / 2, y, y + height];

interface Found {
  by: number;
  other: Box;
  at: number;
}

/** The nearest place of a box that is in line with one of the others. */
function nearest(
  mine: readonly number[],
  others: readonly Box[],
  theirs: (box: Box) => readonly number[],
): Found | undefined {
  let best: Found | undefined;
  for (const other of others) {
    const places = theirs(other);
    for (const [which, place] of mine.entries()) {
      const at = places[which] ?? 0;
      const by = at - place;
      if (Math.abs(by) <= NEAR && (!best || Math.abs(by) < Math.abs(best.by))) best = { by, other, at };
    }
  }
  return best;
}

/** Where a dragged box is in line with others: middles first, then edges. Widths are all the same. */
export function guided(moved: Box, others: readonly Box[]): Guided {
  const across = nearest(edgesAcross(moved), others, edgesAcross);
  const down = nearest([moved.x], others, ({ x }) => [x]);
  const by = { x: down?.by ?? 0, y: across?.by ?? 0 };
  const at = { x: moved.x + by.x, y: moved.y + by.y };
  const guides: Guide[] = [];
  if (across) {
    const from = Math.min(at.x, across.other.x);
    guides.push({ along: "x", at: across.at, from, to: Math.max(at.x, across.other.x) + WIDTH });
  }
  if (down) {
    const from = Math.min(at.y, down.other.y);
    const to = Math.max(at.y + moved.height, down.other.y + down.other.height);
    guides.push({ along: "y", at: down.at, from, to });
  }
  return { by, guides };
}

/** A box around the first of the dragged activities, by which all of them are put in line. */
export const boxOf = (at: Point, height = HEIGHT): Box => ({ ...at, height });
