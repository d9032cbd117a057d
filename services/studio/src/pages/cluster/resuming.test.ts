import { expect, it } from "vitest";
import { resumed } from "./resuming";

const pause = (node?: string) => ({ node, by: "ada", since: "2026-01-31T08:00:00Z" });
const nodes = [{ node: "n1" }, { node: "n2" }];

it("the cluster goes on but for the nodes that have pauses of their own", () => {
  expect(resumed(undefined, { nodes, pauses: [] })).toBe("Goes on: all nodes.");
  expect(resumed(undefined, { nodes, pauses: [pause("n1"), pause("n2")] })).toBe(
    "Goes on: all other nodes. Still paused: n1, n2.",
  );
});

it("a node goes on unless the cluster is paused, or it is gone", () => {
  expect(resumed("n1", { nodes, pauses: [] })).toBe("Goes on: n1.");
  expect(resumed("n1", { nodes, pauses: [pause("n2")] })).toBe("Goes on: n1. Still paused: n2.");
  expect(resumed("n1", { nodes, pauses: [pause()] })).toBe(
    "The pause of n1 is over. Still paused: all nodes.",
  );
  expect(resumed("n9", { nodes, pauses: [] })).toBe("The pause of n9 is over.");
});
