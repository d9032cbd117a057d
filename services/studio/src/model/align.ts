import { WIDTH } from "./layout";
import type { Point } from "./view";

export type Alignment = "left" | "center" | "right" | "top" | "middle" | "bottom" | "across" | "down";

/** Puts activities in line, or at equal distances. */
export function aligned(
  places: ReadonlyMap<string, Point>,
  keys: readonly string[],
  how: Alignment,
  height: (key: string) => number,
): Map<string, Point> {
  const chosen = keys.flatMap((key) => {
    const at = places.get(key);
    return at ? [{ key, at }] : [];
  });
  const result = new Map<string, Point>();
  if (chosen.length < 2) return result;
  const left = Math.min(...chosen.map(({ at }) => at.x));
  const right = Math.max(...chosen.map(({ at }) => at.x));
  const top = Math.min(...chosen.map(({ at }) => at.y));
  const bottom = Math.max(...chosen.map(({ key, at }) => at.y + height(key)));
  const along = how === "across" ? "x" : "y";
  const sorted = [...chosen].sort((one, other) => one.at[along] - other.at[along]);
  const gap =
    ((how === "across" ? right - left : (sorted.at(-1)?.at.y ?? top) - top) || WIDTH) / (chosen.length - 1);
  for (const [at, { key, at: place }] of sorted.entries()) {
    const next: Record<Alignment, Point> = {
      left: { x: left, y: place.y },
      center: { x: (left + right) / 2, y: place.y },
      right: { x: right, y: place.y },
      top: { x: place.x, y: top },
      middle: { x: place.x, y: (top + bottom - height(key)) / 2 },
      bottom: { x: place.x, y: bottom - height(key) },
      across: { x: left + gap * at, y: place.y },
      down: { x: place.x, y: top + gap * at },
    };
    result.set(key, next[how]);
  }
  return result;
}
