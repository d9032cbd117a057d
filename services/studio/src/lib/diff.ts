/** A line of a comparison: in both texts, or in one of them. */
export interface Line {
  side: "both" | "before" | "after";
  text: string;
}

const LIMIT = 4_000_000;

/** The lengths of the longest common subsequences of what is left of both, row by row. */
function lengths(before: string[], after: string[]): Uint32Array[] {
  const rows = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let at = before.length - 1; at >= 0; at -= 1) {
    const row = rows[at] as Uint32Array;
    const below = rows[at + 1] as Uint32Array;
    for (let to = after.length - 1; to >= 0; to -= 1) {
      row[to] =
        before[at] === after[to] ? (below[to + 1] ?? 0) + 1 : Math.max(below[to] ?? 0, row[to + 1] ?? 0);
    }
  }
  return rows;
}

function middle(before: string[], after: string[]): Line[] {
  const gone = (text: string): Line => ({ side: "before", text });
  const come = (text: string): Line => ({ side: "after", text });
  if (before.length * after.length > LIMIT) return [...before.map(gone), ...after.map(come)];
  const rows = lengths(before, after);
  const lines: Line[] = [];
  let at = 0;
  let to = 0;
  while (at < before.length && to < after.length) {
    const [one, other] = [before[at] ?? "", after[to] ?? ""];
    if (one === other) {
      lines.push({ side: "both", text: one });
      at += 1;
      to += 1;
    } else if ((rows[at + 1]?.[to] ?? 0) >= (rows[at]?.[to + 1] ?? 0)) {
      lines.push(gone(one));
      at += 1;
    } else {
      lines.push(come(other));
      to += 1;
    }
  }
  return [...lines, ...before.slice(at).map(gone), ...after.slice(to).map(come)];
}

/** Compares two texts line by line. */
export function diffLines(one: string, other: string): Line[] {
  const before = one.split("\n");
  const after = other.split("\n");
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end += 1;
  }
  const both = (text: string): Line => ({ side: "both", text });
  return [
    ...before.slice(0, start).map(both),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(both),
  ];
}

/** Lines near a change; `undefined` stands for what is left out between them. */
export function nearChanges(lines: Line[], around = 3): (Line | undefined)[] {
  const near = lines.map((_, at) =>
    lines.slice(Math.max(0, at - around), at + around + 1).some((line) => line.side !== "both"),
  );
  return lines.flatMap((line, at) => {
    if (near[at]) return [line];
    return at === 0 || near[at - 1] ? [undefined] : [];
  });
}
