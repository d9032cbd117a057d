import { beforeEach, expect, it, vi } from "vitest";
import { Problem } from "../api/problem";
import { complain, notify, shownNotices } from "./notices";

beforeEach(() => void vi.useFakeTimers());

it("a refused publication says why, and no word of the API", () => {
  const refused = { detail: "the definition has a problem: see validationErrors", validationErrors: [{}] };
  complain(
    new Problem(400, "", refused.detail, "", ["The workflow Sum was never published."], "", [], refused),
  );
  expect(shownNotices().map(({ text }) => text)).toEqual([
    "Not published, and why: The workflow Sum was never published.",
  ]);
  vi.advanceTimersByTime(60_000);
});

it("a later notice about the same takes the place of the one before", () => {
  complain(new Error("no connection"), "save");
  notify("Copied.");
  notify("Saved.", "save");
  expect(shownNotices().map(({ text }) => text)).toEqual(["Copied.", "Saved."]);
  vi.advanceTimersByTime(60_000);
  expect(shownNotices()).toEqual([]);
  vi.useRealTimers();
});
