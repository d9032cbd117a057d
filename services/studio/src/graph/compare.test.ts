import { expect, it } from "vitest";
import { changesOf, compare } from "./compare";

const line = (id: string, text: string) => ({ id, type: "Elsa.WriteLine", text });
const flow = (...activities: object[]) => ({ id: "f", type: "Elsa.Flowchart", activities, connections: [] });

it("says which activities were added, changed and removed", () => {
  const before = flow(line("a", "1"), line("b", "1"), line("c", "1"));
  const after = flow(line("a", "1"), line("b", "2"), line("d", "1"));
  expect(compare(before, after)).toEqual({ added: ["d"], changed: ["b"], removed: ["c"] });
  expect(Object.fromEntries(changesOf(compare(before, after)))).toEqual({
    b: "changed",
    c: "removed",
    d: "added",
  });
});

it("does not mind where an activity stands in the picture", () => {
  const placed = { ...line("a", "1"), metadata: { designer: { position: { x: 1, y: 2 } } } };
  expect(compare(flow(line("a", "1")), flow(placed))).toEqual({ added: [], changed: [], removed: [] });
});
