import { describe, expect, it } from "vitest";
import { changesBetween } from "./diff";
import { type Json, writeText } from "./json";
import { merge, placeOf } from "./merge";
import { indexOf } from "./testing";

const doc = (activities: Json[], more: Record<string, Json> = {}): Json => ({
  name: "D",
  ...more,
  root: { type: "Elsa.Flowchart", id: "f", activities, connections: [] },
});
const line = (id: string, text: string): Json => ({ id, type: "Elsa.WriteLine", text });

describe("two changes of one definition", () => {
  const base = doc([line("a", "1"), line("b", "1")]);

  it("are joined where they touch different activities", () => {
    const { doc: both, clashes } = merge(
      base,
      doc([line("a", "2"), line("b", "1"), line("c", "1")]),
      doc([line("b", "3")].concat([line("a", "1")]), { name: "E" }),
    );
    expect(clashes).toEqual([]);
    expect(writeText(both, "")).toBe(
      writeText(doc([line("a", "2"), line("b", "3"), line("c", "1")], { name: "E" }), ""),
    );
  });

  it("clash where they touch the same", () => {
    const { doc: mine, clashes } = merge(
      base,
      doc([line("a", "2"), line("b", "1")]),
      doc([line("a", "3"), line("b", "1")]),
    );
    expect(clashes).toMatchObject([{ mine: "2", theirs: "3" }]);
    expect(writeText(mine)).toContain('"2"');
  });

  it("take theirs at the places that are chosen, and only there", () => {
    const mine = doc([line("a", "2"), line("b", "2")]);
    const theirs = doc([line("a", "3"), line("b", "3")]);
    const [first] = merge(base, mine, theirs).clashes;
    const { doc: both, clashes } = merge(base, mine, theirs, new Set([placeOf(first?.path ?? [])]));
    expect(clashes).toHaveLength(2);
    expect(writeText(both, "")).toBe(writeText(doc([line("a", "3"), line("b", "2")]), ""));
  });

  it("say which values were and are, with the id of the activity", () => {
    const wrapped = (value: string) => ({ typeName: "String", expression: { type: "Literal", value } });
    const of = (value: string): Json => doc([{ id: "a", type: "Elsa.WriteLine", text: wrapped(value) }]);
    const [change] = changesBetween(indexOf(of("one")), indexOf(of("two")));
    expect(change).toMatchObject({
      id: "a",
      values: [{ path: ["text", "expression", "value"], before: "one", after: "two" }],
    });
  });

  it("are named", () => {
    const changes = changesBetween(
      indexOf(base),
      indexOf(doc([line("a", "2"), line("c", "1")], { name: "E" })),
    );
    expect(changes.map(({ did, what }) => `${did} ${what}`)).toEqual([
      "changed activity",
      "added activity",
      "removed activity",
      "changed member",
    ]);
  });
});
