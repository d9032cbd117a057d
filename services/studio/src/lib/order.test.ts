import { describe, expect, it } from "vitest";
import { dropAt, spansOf } from "./order";

const DOWN = { isDown: true, margin: 10, pad: 5 };
const down = [0, 100, 200].map((y) => ({ x: 0, y, width: 200, height: 50 }));
const across = down.map(({ y }) => ({ x: y, y: 0, width: 50, height: 200 }));

describe("what is let go in a list", () => {
  it.each([
    [0, 40, undefined],
    [0, 120, undefined],
    [0, 130, 1],
    [0, 255, 2],
    [1, 20, -1],
    [1, 26, undefined],
    [2, -10, -2],
    [2, 60, -1],
  ])("number %i at %i goes on by %s", (from, y, by) => {
    expect(dropAt(down, from, { x: 100, y }, DOWN)?.by).toBe(by);
    expect(dropAt(across, from, { x: y, y: 100 }, { ...DOWN, isDown: false })?.by).toBe(by);
  });

  it.each([
    [100, -11],
    [100, 261],
    [-11, 255],
    [211, 255],
  ])("does nothing outside of the list: %i, %i", (x, y) => {
    expect(dropAt(down, 1, { x, y }, DOWN)).toBeUndefined();
  });

  it("comes to the line between its new neighbours, or beyond the last", () => {
    const line = (from: number, y: number) => dropAt(down, from, { x: 0, y }, DOWN)?.line;
    expect(line(0, 130)).toEqual({ along: "x", at: 175, from: 0, to: 200 });
    expect(line(0, 255)).toEqual({ along: "x", at: 255, from: 0, to: 200 });
    expect(line(2, 0)).toEqual({ along: "x", at: -5, from: 0, to: 200 });
    expect(dropAt(across, 0, { x: 130, y: 0 }, { ...DOWN, isDown: false })?.line).toEqual({
      along: "y",
      at: 175,
      from: 0,
      to: 200,
    });
  });

  it("has no place where there is no list", () => {
    expect(dropAt([], 0, { x: 0, y: 0 }, DOWN)).toBeUndefined();
    expect(dropAt(down, -1, { x: 0, y: 130 }, DOWN)).toBeUndefined();
  });
});

it("a row of a tree has what is inside it", () => {
  const rows = [
    { depth: 0 },
    { depth: 1, list: "s" },
    { depth: 2, list: "inner" },
    { depth: 2, list: "inner" },
    { depth: 1, list: "s" },
    { depth: 0 },
    { depth: 1, list: "other" },
  ];
  expect(spansOf(rows, "s")).toEqual([
    { first: 1, last: 3 },
    { first: 4, last: 4 },
  ]);
  expect(spansOf(rows, "other")).toEqual([{ first: 6, last: 6 }]);
});
