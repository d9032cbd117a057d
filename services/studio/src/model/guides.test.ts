import { expect, it } from "vitest";
import { boxOf, guided } from "./guides";

const others = [boxOf({ x: 0, y: 0 }), boxOf({ x: 300, y: 200 }, 100)];

it("puts a box in line with the middle of the nearest one", () => {
  const { by, guides } = guided(boxOf({ x: 700, y: 226 }), others);
  expect(by).toEqual({ x: 0, y: -4 });
  expect(guides).toEqual([{ along: "x", at: 250, from: 300, to: 900 }]);
});

it("puts a box in line with an edge, both ways at once", () => {
  const { by, guides } = guided(boxOf({ x: 3, y: -5 }), others);
  expect(by).toEqual({ x: -3, y: 5 });
  expect(guides.map(({ along }) => along)).toEqual(["x", "y"]);
});

it("leaves a box alone that is near nothing", () => {
  expect(guided(boxOf({ x: 100, y: 100 }), others)).toEqual({ by: { x: 0, y: 0 }, guides: [] });
  expect(guided(boxOf({ x: 100, y: 100 }), [])).toEqual({ by: { x: 0, y: 0 }, guides: [] });
});
