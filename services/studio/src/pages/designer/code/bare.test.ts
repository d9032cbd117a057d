import { describe, expect, it } from "vitest";
import { type Json, type Members, membersOf, namesOf, readText, writeText } from "../../../model/json";
import { bareOf, completed, flawsIn, offsetOf } from "./bare";

const at = (x: number): Members => ({ designer: { position: { x, y: 7 } } });
const line = (id: string, more: Members = {}): Members => ({ type: "Elsa.WriteLine", id, ...more });
const doc = (activities: Json[], more: Members = {}): Members => ({
  id: "v1",
  definitionId: "order",
  version: 3,
  name: "Order",
  isLatest: true,
  ...more,
  root: { type: "Elsa.Flowchart", id: "flow", activities, connections: [] },
});
const activities = (of: Json): Json => membersOf(membersOf(of)?.root)?.activities ?? null;

describe("what the text leaves out", () => {
  it("is what the server sets, and where activities stand", () => {
    const bare = bareOf(doc([line("a", { metadata: { ...at(1), displayText: "A" } }), line("b")]));
    expect(namesOf(bare as Members)).toEqual(["definitionId", "name", "root"]);
    expect(activities(bare)).toEqual([line("a", { metadata: { displayText: "A" } }), line("b")]);
  });

  it("comes back, also inside of others, and nothing else changes", () => {
    const inner = line("in", { metadata: at(5) });
    const body: Members = { type: "Elsa.ForEach", id: "loop", body: inner, metadata: at(2) };
    const before = doc([line("a", { metadata: at(1), text: "x" }), body], {
      tool: { id: "t", "7": 1, a: 2 },
    });
    expect(writeText(completed(bareOf(before), before))).toBe(writeText(before));
  });

  it("is also what is empty, and what answers add to activities", () => {
    const added = (id: string, more: Members = {}): Members =>
      line(id, {
        ...more,
        name: null,
        nodeId: `Workflow1:${id}`,
        version: 1,
        metadata: {},
        customProperties: {},
      });
    const none = { variables: [], customProperties: {}, options: { activationStrategyType: null } };
    const before = doc([added("a", { text: "x" }), line("b", { version: 2, metadata: at(3) })], none);
    const bare = bareOf(before);
    expect(namesOf(bare as Members)).toEqual(["definitionId", "name", "root"]);
    expect(activities(bare)).toEqual([line("a", { text: "x" }), line("b", { version: 2 })]);
    expect(writeText(completed(bare, before))).toBe(writeText(before));
    const other = completed({ root: { type: "Elsa.WriteLine", id: "b" } }, doc([line("b", { version: 1 })]));
    expect(membersOf(membersOf(other)?.root)?.version).toBe(1);
    const another = completed({ root: { type: "Acme.Ship", id: "b" } }, doc([line("b", { version: 1 })]));
    expect(membersOf(membersOf(another)?.root)?.version).toBeUndefined();
  });

  it("keeps places by the ids of activities, and those that are in the text", () => {
    const before = doc([line("a", { metadata: at(1) }), line("b", { metadata: at(2) })]);
    const { root } = doc([line("new"), line("b", { metadata: at(9) }), line("a")]);
    const next = completed({ name: "Other", root: root ?? null }, before);
    expect(activities(next)).toEqual([
      line("new"),
      line("b", { metadata: at(9) }),
      line("a", { metadata: at(1) }),
    ]);
    expect(membersOf(next)).toMatchObject({ id: "v1", version: 3, isLatest: true, name: "Other" });
    expect(namesOf(next as Members)).toEqual(namesOf(before));
  });

  it("is not taken from activities whose ids do not tell them apart", () => {
    const before = doc([line("a", { metadata: at(1) }), line("a", { metadata: at(2) }), line("", at(3))]);
    expect(activities(bareOf(before))).toEqual(activities(before));
    expect(completed(bareOf(before), before)).toEqual(before);
  });

  it("has the id of the definition, where the text has none", () => {
    const before = doc([]);
    const { definitionId: _, ...written } = bareOf(before) as Members;
    expect(completed(written, before)).toEqual(before);
    expect(membersOf(completed({ ...written, definitionId: "other" }, before))?.definitionId).toBe("other");
  });

  it("loses no digits of numbers", () => {
    const before = readText(`{"definitionId": "d", "big": 1.50, "root": {"type": "A", "id": "a", "n": 1.0}}`);
    expect(writeText(completed(bareOf(before), before))).toBe(writeText(before));
  });
});

describe("the place of a flaw", () => {
  it("is an offset: lines and columns are from 1 on, and a column is a character", () => {
    const text = "a: 1\n😀b: 2\n\nc";
    const marked = (row: number, column: number) => text.slice(offsetOf(text, row, column))[0];
    expect(offsetOf(text, 1, 1)).toBe(0);
    expect(marked(1, 4)).toBe("1");
    expect(marked(2, 2)).toBe("b");
    expect(marked(4, 1)).toBe("c");
    expect(offsetOf(text, 3, 9)).toBe(text.indexOf("\n\n") + 1);
    expect(offsetOf(text, 99, 1)).toBe(text.length);
  });

  it("is in the answer of the server", () => {
    const body = { detail: "no", flaws: [{ line: 2, column: 3, message: "it is wrong" }, "odd"] };
    expect(flawsIn(body, "a\nbcd")).toEqual([{ line: 2, column: 3, offset: 4, message: "it is wrong" }]);
    expect(flawsIn({}, "a")).toEqual([]);
  });
});
