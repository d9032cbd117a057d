/** One item, or a series of items that came again and again in the same order. */
export type Part<T> = { item: T } | { items: readonly T[]; round: readonly T[]; rounds: number };

/** Fewer rounds are shown as they are. */
const ROUNDS_MIN = 3;
/** The most items of one round. */
const ROUND_MAX = 40;

/** How often the items from here on come again after this many. */
function roundsAt(keys: readonly string[], from: number, size: number): number {
  let at = from + size;
  while (at < keys.length && keys[at] === keys[at - size]) at++;
  return Math.floor((at - from) / size);
}

/** Folds what repeats: of the ways to do so, the one that leaves the fewest items beside it. */
export function fold<T>(items: readonly T[], keyOf: (item: T) => string): Part<T>[] {
  const keys = items.map(keyOf);
  const parts: Part<T>[] = [];
  for (let at = 0; at < items.length; ) {
    let best = { size: 1, rounds: 1 };
    const longest = Math.min(ROUND_MAX, Math.floor((items.length - at) / ROUNDS_MIN));
    for (let size = 1; size <= longest; size++) {
      const rounds = roundsAt(keys, at, size);
      if (rounds >= ROUNDS_MIN && rounds * size > best.rounds * best.size) best = { size, rounds };
    }
    const { size, rounds } = best;
    if (rounds === 1) parts.push({ item: items[at] as T });
    else
      parts.push({ items: items.slice(at, at + size * rounds), round: items.slice(at, at + size), rounds });
    at += size * rounds;
  }
  return parts;
}
