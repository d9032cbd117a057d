import { expect, it, vi } from "vitest";
import { commandsHere, offer } from "./commands";

const command = (word: string) => ({ word, act: vi.fn() });

it("offers what the page that is open can do, and nothing of one that was left", () => {
  const takeBack = offer([command("Cancel")]);
  expect(commandsHere().map(({ word }) => word)).toEqual(["Cancel"]);
  // The next page may be there before the last one is gone.
  const next = offer([command("Retry")]);
  takeBack();
  expect(commandsHere().map(({ word }) => word)).toEqual(["Retry"]);
  next();
  expect(commandsHere()).toEqual([]);
});
