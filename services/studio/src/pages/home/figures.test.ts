import { expect, test } from "vitest";
import { countedWord, shownOf } from "./figures";

test.each([
  [5, null, "figure"],
  [0, null, "figure"],
  [5, new Error("no"), "old"],
  [undefined, new Error("no"), "failed"],
  [undefined, null, "none"],
] as const)("a figure of %s with the error %s is shown as %s", (data, error, expected) => {
  expect(shownOf({ data, error })).toBe(expected);
});

test("a count at the limit of the server says that there may be more", () => {
  expect(countedWord(99_999, "en")).toBe("99,999");
  expect(countedWord(100_000, "en")).toBe("100,000+");
});
