import type { Api } from "../../api/types";
import type { InstanceFilter } from "../../lib/filters";

/** Rows are read in parts of this size, as far as one scrolls. */
export const PART = 100;
/** The server counts up to this number; a longer list is counted as one reads it. */
export const TOTAL_MAX = 100_000;

export type Part = readonly [number, Api["InstancePage"] | undefined];

/** Where the parts of a list begin, and how far it goes, as far as one has been there. */
export interface Trail {
  readonly key: string;
  readonly cursors: Map<number, string>;
  end: number;
}

export function startTrail(key: string, { page, cursor, before }: InstanceFilter): Trail {
  const cursors = new Map<number, string>();
  if (page > 1 && before) cursors.set(page - 1, before);
  if (page > 0 && cursor) cursors.set(page, cursor);
  return { key, cursors, end: 0 };
}

/** How an address names a part, so that it is found again without a count of what is before it. */
export function placeOf(trail: Trail, part: number) {
  const at = (one: number) => (one > 0 ? trail.cursors.get(one) : undefined);
  return { page: part > 0 ? String(part) : undefined, cursor: at(part), before: at(part - 1) };
}

/** Forgets where parts begin, except the first that is seen: what is read again may be other rows. */
export function forget(trail: Trail, seen: readonly number[]): void {
  const kept = [...seen].sort((one, other) => one - other).find((part) => trail.cursors.has(part));
  for (const part of trail.cursors.keys()) if (part !== kept) trail.cursors.delete(part);
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
