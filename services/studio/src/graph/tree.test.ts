import { expect, it } from "vitest";
import { treeOf } from "./ActivityTree";

it("has all activities with their places, and what happened to them", () => {
  const line = (id: string) => ({ id, type: "Elsa.WriteLine" });
  const root = {
    id: "s",
    type: "Elsa.Sequence",
    activities: [
      line("a"),
      {
        id: "m",
        type: "Elsa.StateMachine",
        states: [{ name: "Open", entry: line("b") }],
        transitions: [{ name: "close", from: "Open", to: "Closed", trigger: line("c") }],
      },
      { id: "w", type: "Elsa.Switch", cases: [{ label: "One", activity: line("d") }] },
    ],
  };
  const rows = treeOf(root, new Map([["b", { status: "Completed", runs: 2 }]]));
  expect(rows.map(({ key, depth, place }) => [key, depth, place])).toEqual([
    ["s", 0, undefined],
    ["a", 1, undefined],
    ["m", 1, undefined],
    ["b", 2, "Open: entry"],
    ["c", 2, "close: trigger"],
    ["w", 1, undefined],
    ["d", 2, "One"],
  ]);
  expect(rows[3]?.name).toBe("Write Line");
  expect(rows[3]?.about).toBe("2 ×, b, Finished");
  expect(rows[1]?.about).toBe("a, Not taken");
});
