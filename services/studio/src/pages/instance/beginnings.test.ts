import { describe, expect, it } from "vitest";
import { beginningsOf } from "./beginnings";

const line = (id: string) => ({ id, type: "Elsa.WriteLine" });
const idsOf = (root: unknown) => beginningsOf(root).map(({ id }) => id);

describe("where a new instance can begin", () => {
  it.each(["Elsa.Flowchart", "Flowchart"])("is at each activity of a %s that is the root", (type) => {
    const inner = { id: "inner", type: "Elsa.Sequence", activities: [line("deep")] };
    expect(idsOf({ id: "f", type, activities: [line("a"), inner] })).toEqual(["a", "inner"]);
  });

  it.each([
    ["a Sequence", { id: "s", type: "Elsa.Sequence", activities: [line("a")] }],
    ["a state machine", { id: "m", type: "Elsa.StateMachine", states: [{ name: "A", entry: line("a") }] }],
    ["one activity", line("a")],
    [
      "a Flowchart inside another container",
      {
        id: "s",
        type: "Elsa.Sequence",
        activities: [{ id: "f", type: "Elsa.Flowchart", activities: [line("a")] }],
      },
    ],
    ["nothing", undefined],
  ])("is nowhere else: %s", (_, root) => expect(idsOf(root)).toEqual([]));
});
