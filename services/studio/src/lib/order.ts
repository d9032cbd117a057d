export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** How a list is laid out. */
export interface Laid {
  /** One below the other; otherwise side by side. */
  isDown: boolean;
  /** How far outside of the list something may be let go. */
  margin: number;
  /** How far before the first and after the last the line is. */
  pad: number;
}

/** Where something comes that is let go. */
export interface Drop {
  /** How many places it goes on in its list. */
  by: number;
  /** The line between its new neighbours; `at` is its place across, `from` and `to` are along it. */
  line: { along: "x" | "y"; at: number; from: number; to: number };
}

const turned = ({ x, y, width, height }: Box): Box => ({ x: y, y: x, width: height, height: width });

/** Where the box of a list comes that is let go at a point; nowhere if it stays, or outside of the list. */
export function dropAt(
  boxes: readonly Box[],
  from: number,
  at: { x: number; y: number },
  laid: Laid,
): Drop | undefined {
  const { isDown, margin, pad } = laid;
  const all = isDown ? boxes : boxes.map(turned);
  const [across, along] = isDown ? [at.x, at.y] : [at.y, at.x];
  const [first, last] = [all[0], all.at(-1)];
  if (!first || !last || !all[from]) return undefined;
  const start = Math.min(...all.map(({ x }) => x));
  const end = Math.max(...all.map(({ x, width }) => x + width));
  const isInside =
    across >= start - margin &&
    across <= end + margin &&
    along >= first.y - margin &&
    along <= last.y + last.height + margin;
  const gap = all.filter(({ y, height }) => y + height / 2 < along).length;
  const by = gap > from ? gap - 1 - from : gap - from;
  if (!isInside || by === 0) return undefined;
  const [before, after] = [all[gap - 1], all[gap]];
  const low = before ? before.y + before.height : first.y - 2 * pad;
  const high = after ? after.y : last.y + last.height + 2 * pad;
  return { by, line: { along: isDown ? "x" : "y", at: (low + high) / 2, from: start, to: end } };
}

/** The rows of a list in a tree, each with the last row of what is inside it. */
export function spansOf(
  rows: readonly { depth: number; list?: string }[],
  list: string,
): { first: number; last: number }[] {
  return rows.flatMap((row, first) => {
    if (row.list !== list) return [];
    const next = rows.findIndex((other, at) => at > first && other.depth <= row.depth);
    return [{ first, last: (next < 0 ? rows.length : next) - 1 }];
  });
}
