import { expect, it } from "vitest";
import { changesBetween, placeWords, shownValue } from "./diff";
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

it("says that a title was given where nothing stood beside it", () => {
  const titled = { ...line, metadata: { displayText: "Greets" } };
  const values = (one: Json, other: Json) =>
    changesBetween(indexOf(root(one)), indexOf(root(other))).flatMap((change) => change.values ?? []);
  const path = ["metadata", "displayText"];
  expect(values(line, titled)).toEqual([{ path, before: undefined, after: "Greets" }]);
  expect(values(titled, line)).toEqual([{ path, before: "Greets", after: undefined }]);
});

it("says where a value is, and what it is, without what goes without saying", () => {
  const path = ["root", "activities", "id If1", "then", "activities", "id WriteLine1"];
  expect(placeWords([...path, "text", "expression", "value"])).toEqual({ id: "WriteLine1", member: "text" });
  expect(placeWords(path)).toEqual({ id: "WriteLine1", member: "" });
  expect(placeWords(["description"])).toEqual({ id: undefined, member: "description" });
  expect(shownValue({ typeName: "String", expression: { type: "Literal", value: "hi" } })).toBe("hi");
  expect(shownValue([1, true])).toBe("[1,true]");
  expect(shownValue("x".repeat(500))).toHaveLength(201);
});

it("names the container whose lines are otherwise as the graph does", () => {
  const flow = (...connections: Json[]): Json => ({
    root: { type: "Elsa.Flowchart", id: "sL581", name: "Pay", activities: [line], connections },
  });
  const wire = { source: { activity: "l", port: "Done" }, target: { activity: "l", port: "In" } };
  expect(changesBetween(indexOf(flow()), indexOf(flow(wire)))).toEqual([
    { did: "changed", what: "lines", name: "Pay", id: "sL581" },
  ]);
});
