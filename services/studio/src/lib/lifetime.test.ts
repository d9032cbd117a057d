import { expect, it } from "vitest";
import { endOf, lifetimeOf, localOf } from "./lifetime";

it.each([
  ["", undefined],
  ["  ", undefined],
  ["1", 86_400],
  [" 30 ", 2_592_000],
  ["36600", 3_162_240_000],
  ["36601", null],
  ["0", null],
  ["-1", null],
  ["1.5", null],
  ["1e3", null],
  ["30 days", null],
  ["3o", null],
])("reads %j as the days that a key is valid", (text, seconds) => expect(lifetimeOf(text)).toBe(seconds));

it("reads a local time that is to come, and no other", () => {
  const now = Date.parse("2026-11-25T12:00:00Z");
  const later = localOf("2026-12-01T09:30:00.000Z");
  expect(endOf(later, now)).toBe("2026-12-01T09:30:00.000Z");
  expect(endOf(localOf("2026-11-01T09:30:00.000Z"), now)).toBeNull();
  expect(endOf("soon", now)).toBeNull();
  expect(endOf("", now)).toBeUndefined();
  expect(localOf(null)).toBe("");
});
