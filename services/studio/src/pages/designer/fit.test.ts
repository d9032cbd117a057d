import { expect, it } from "vitest";
import { isCut, opening, READABLE } from "./fit";

const BOX = { width: 620, height: 500 };
const FIRST = { x: 2060, y: 2380 };
const flow = (width: number) => ({ x: FIRST.x, y: 2280, width, height: 284 });

it("a flow of six cards opens with all of them", () => {
  const { x, zoom } = opening(flow(1360), FIRST, BOX);
  expect(zoom).toBeGreaterThanOrEqual(READABLE);
  expect(FIRST.x * zoom + x).toBeGreaterThanOrEqual(0);
  expect((FIRST.x + 1360) * zoom + x).toBeLessThanOrEqual(BOX.width);
});

it("one that would be too small to be read opens at its beginning", () => {
  const { x, y, zoom } = opening(flow(40_000), FIRST, BOX);
  expect(zoom).toBe(0.75);
  expect(FIRST.x * zoom + x).toBe(48);
  expect(FIRST.y * zoom + y).toBe(250);
});

it("what opens at its beginning only is known, so that its overview shows the rest", () => {
  expect(isCut(flow(40_000), BOX)).toBe(true);
  expect(isCut(flow(1360), BOX)).toBe(false);
  expect(isCut(flow(40_000), { width: 0, height: 0 })).toBe(false);
});
