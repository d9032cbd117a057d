/** The line through counts, one for each part of a time, in a box of this size; zero is at its foot. */
export function sparkPath(counts: readonly number[], width: number, height: number): string {
  const most = Math.max(1, ...counts);
  const step = width / Math.max(1, counts.length - 1);
  const round = (value: number) => Math.round(value * 100) / 100;
  const heights = counts.map((count) => round(height - (Math.max(0, count) / most) * height));
  // A single part has no way to another one: it is a line of its height.
  if (heights.length === 1) return `M0 ${heights[0]}H${width}`;
  return heights.map((y, at) => `${at === 0 ? "M" : "L"}${round(at * step)} ${y}`).join("");
}

/** What a line says in numbers: all of it, and its highest point. */
export function sparkSums(counts: readonly number[]): { total: number; most: number } {
  return { total: counts.reduce((sum, count) => sum + count, 0), most: Math.max(0, ...counts) };
}
