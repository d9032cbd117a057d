import { expect, it } from "vitest";
import { askable, isClusterPaused, isHalted, pausedNodes } from "./pauses";

const pause = (node?: string) => ({ node, by: "ada", since: "2026-01-31T08:00:00Z" });
const state = (isAcceptingNewWork: boolean) => ({ generationId: "1", reason: "None", isAcceptingNewWork });

it("a node that is paused can only go on, and one that is not can only be paused", () => {
  expect(askable("n1", [])).toBe("pause");
  expect(askable("n1", [pause("n1")])).toBe("resume");
  expect(askable("n1", [pause("n2")])).toBe("pause");
  // The pause of the cluster is not one of the node.
  expect(askable("n1", [pause()])).toBe("pause");
});

it("nothing runs while a pause leaves no executor that takes commands", () => {
  expect(isHalted({ state: state(false), pauses: [pause()] })).toBe(true);
  expect(isHalted({ state: state(true), pauses: [pause("n1")] })).toBe(false);
  expect(isHalted({ state: state(false), pauses: [] })).toBe(false);
});

it("the pause of a node is none of the cluster", () => {
  expect(isClusterPaused([])).toBe(false);
  expect(isClusterPaused([pause("n1")])).toBe(false);
  expect(isClusterPaused([pause("n1"), pause()])).toBe(true);
  expect(pausedNodes([pause("n1"), pause(), pause("n2")])).toEqual(["n1", "n2"]);
});
