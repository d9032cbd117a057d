import { expect, it } from "vitest";
import { pixelsOf } from "./rem";

it("reads the size of the text, and knows one without it", () => {
  expect(["16px", "32px", "13.5px"].map(pixelsOf)).toEqual([16, 32, 13.5]);
  for (const nothing of ["", "medium", "0px"]) expect(pixelsOf(nothing)).toBe(16);
});
