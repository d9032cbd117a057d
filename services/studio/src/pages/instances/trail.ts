import type { Api } from "../../api/types";
import type { InstanceFilter } from "../../lib/filters";

/** Rows are read in parts of this size, as far as one scrolls. */
export const PART = 100;
/** The server counts up to this number; a longer list is counted as one reads it. */
export const TOTAL_MAX = 1_000_000;

export type Part = readonly [number, Api["InstancePage"] | undefined];

/** Where the parts of a list begin, and how far it goes, as far as one has been there. */
export interface Trail {
  readonly key: string;
  readonly cursors: Map<number, string>;
  end: number;
}

export function startTrail(key: string, { page, cursor }: InstanceFilter): Trail {
  return { key, cursors: new Map(page > 0 && cursor ? [[page, cursor]] : []), end: 0 };
}

/** Each part that was read says where the next one begins. */
export function learn(trail: Trail, parts: readonly Part[]): void {
  for (const [part, page] of parts) {
    if (!page) continue;
    if (page.nextCursor) trail.cursors.set(part + 1, page.nextCursor);
    trail.end = Math.max(trail.end, part * PART + page.items.length + (page.nextCursor ? PART : 0));
  }
}

/** The number of rows: what the server counted, or, above its limit, those that one knows of. */
export function endOf(trail: Trail, total: number, page: number): number {
  return total < TOTAL_MAX ? total : Math.max(total, trail.end, (page + 1) * PART);
}
