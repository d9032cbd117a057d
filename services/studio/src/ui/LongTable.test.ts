import { expect, it } from "vitest";
import { seenOf } from "./LongTable";

it("counts all rows where the table does not scroll", () => {
  expect(seenOf(33 + 10 * 33, 10 * 33)).toBe(10);
  expect(seenOf(32 + 10 * 33, 10 * 33)).toBe(10);
  expect(seenOf(1000, 33)).toBe(1);
});

it("counts the rows that are seen as a whole where it does", () => {
  expect(seenOf(32 + 5 * 33 + 20, 100 * 33)).toBe(5);
  expect(seenOf(0, 0)).toBe(1);
});
