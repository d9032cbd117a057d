import { HEIGHT, TURN } from "../../model/layout";
import type { Point } from "../../model/view";

const LETTER = 6;
const MOST = 28;
const CLEAR = 13;
/** What a curve needs at least to get to another height. */
const CURVE = 24;

/** The names of outcomes stand beside a card with several: a line that leads on is straight until it is past them. */
export function leadOf({ sourceX, targetX }: Ends, turn: number): number {
  return turn <= TURN ? 0 : Math.max(0, Math.min(turn, targetX - sourceX - CURVE));
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
