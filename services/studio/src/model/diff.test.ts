import { expect, it } from "vitest";
import { changesBetween } from "./diff";
import type { Json } from "./json";
import { indexOf } from "./testing";

const line = { id: "l", type: "Elsa.WriteLine", text: "hi" };
const root = (activity: Json): Json => ({
  root: { id: "r", type: "Elsa.Sequence", activities: [activity] },
});

it("does not show what answers add where nothing was written", () => {
  const answered = {
    ...line,
    nodeId: "Workflow1:r:l",
    version: 1,
    name: null,
    customProperties: {},
    metadata: {},
  };
  const changes = (one: Json, other: Json) => changesBetween(indexOf(root(one)), indexOf(root(other)));
  expect(changes(line, answered)).toEqual([]);
  expect(changes(line, { ...answered, metadata: { displayText: "Greets" } })).toHaveLength(1);
  expect(changes(line, { ...answered, name: "Greets" })).toHaveLength(1);
});
