import { expect, it } from "vitest";
import { savedAt } from "./saved";

it("a version was saved when it was saved last, as far as the server knows", () => {
  const [first, last] = ["2026-01-31T08:00:00Z", "2026-01-31T09:00:00Z"];
  expect(savedAt({ createdAt: first, savedAt: last })).toBe(last);
  expect(savedAt({ createdAt: first })).toBe(first);
  expect(savedAt({ createdAt: first, savedAt: null })).toBe(first);
});
