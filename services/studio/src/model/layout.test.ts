import { expect, it } from "vitest";
import { overviewHeight } from "./layout";

it("the overview of a flat page is flat, and of a high one no higher than it may be", () => {
  expect(overviewHeight({ width: 4760, height: 56 }, 160, 112)).toBe(40);
  expect(overviewHeight({ width: 1600, height: 600 }, 160, 112)).toBe(80);
  expect(overviewHeight({ width: 200, height: 4000 }, 160, 112)).toBe(112);
  expect(overviewHeight({ width: 0, height: 0 }, 160, 112)).toBe(40);
});
