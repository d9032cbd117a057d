import { HEIGHT } from "../../model/layout";
import type { Point } from "../../model/view";

const LETTER = 6;
const MOST = 28;
const CLEAR = 13;
const TURN = 24;

/** How far from its card a line turns: past the names of outcomes that stand there, with which it would cross. */
export function turnOf(outcomes: readonly string[]): number {
  const longest = outcomes.length > 1 ? Math.max(...outcomes.map((name) => name.length)) : 0;
  return longest === 0 ? TURN : Math.max(TURN, CLEAR + Math.min(longest, MOST) * LETTER + 4);
}

export interface Ends {
  sourceX: number;
  sourceY: number;
  targetX: number;
  targetY: number;
}

export interface Named {
  text: string;
  at: Point;
}

/** The name of a line above its middle; above both cards, if it has no room between them. */
export function nameOn(name: string, { sourceX, sourceY, targetX, targetY }: Ends, middle: Point): Named {
  const text = name.length > MOST ? `${name.slice(0, MOST - 1)}…` : name;
  const isBeside = targetX > sourceX && Math.abs(targetY - sourceY) < HEIGHT + 2 * CLEAR;
  if (!isBeside) return { text, at: middle };
  const hasRoom = text.length * LETTER + CLEAR <= targetX - sourceX;
  const y = hasRoom ? middle.y - CLEAR : Math.min(sourceY, targetY) - HEIGHT / 2 - CLEAR;
  return { text, at: { x: middle.x, y } };
}

/** How far down a line goes that leads back to a card at the same height: below both, with their chips. */
export function lowest({ sourceY, targetY }: Ends): number | undefined {
  return Math.abs(targetY - sourceY) < HEIGHT ? Math.max(sourceY, targetY) + HEIGHT / 2 + 44 : undefined;
}
