import { expect, it } from "vitest";
import { heirOf } from "./focus";

interface Part {
  name: string;
  isGone?: boolean;
  isWhole?: boolean;
  children: Part[];
  isStop?: boolean;
}

const stop = (name: string): Part => ({ name, isStop: true, children: [] });
const part = (name: string, ...children: Part[]): Part => ({ name, children });

const stopsOf = (one: Part): Part[] => [...(one.isStop ? [one] : []), ...one.children.flatMap(stopsOf)];

const heir = (...way: { part: Part; at: number }[]) =>
  heirOf(way, {
    isThere: (one) => !one.isGone,
    isWhole: (one) => Boolean(one.isWhole),
    stopsIn: (one, child) => (one.children[child] ? stopsOf(one.children[child]) : []),
    children: (one) => one.children.length,
  })?.name;

it("gives the focus of a row that is removed to the row in its place, or to the one before", () => {
  const rows = part("rows", part("row 1", stop("first")), part("row 3", stop("third")));
  const gone = { part: { ...part("row 2"), isGone: true }, at: 0 };
  expect(heir(gone, { part: rows, at: 1 })).toBe("third");
  expect(heir(gone, { part: rows, at: 2 })).toBe("third");
  expect(heir(gone, { part: rows, at: 0 })).toBe("first");
});

it("gives the focus of a list that is empty now to what is around it as a whole", () => {
  const list: Part = { ...part("list", part("empty")), isWhole: true };
  const page: Part = { ...part("page", part("head", stop("button")), list), isWhole: true };
  expect(heir({ part: list, at: 0 }, { part: page, at: 1 })).toBe("list");
  expect(heir({ part: { ...list, isWhole: false }, at: 0 }, { part: page, at: 1 })).toBe("button");
});

it("knows no one where nothing is left", () => {
  expect(heir({ part: { ...part("row"), isGone: true }, at: 0 })).toBeUndefined();
});
