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

/** A flowchart with activities by their ids, and lines such as `a>b`. */
const flow = (activities: Json[], ...lines: string[]): Json => ({
  name: "D",
  root: { type: "Elsa.Flowchart", id: "f", activities, connections: lines.map(wire) },
});
const wire = (text: string): Json => {
  const [source = "", target = ""] = text.split(">");
  return { source: { activity: source, port: "Done" }, target: { activity: target, port: "In" } };
};
const box = (id: string, ...activities: Json[]): Json => ({ type: "Elsa.Sequence", id, activities });
const joinedText = (...of: Parameters<typeof merge>) => {
  const { doc: both, clashes } = merge(...of);
  return { text: writeText(both, ""), clashes };
};
const [a, b, c] = [line("a", "1"), line("b", "1"), line("c", "1")];

describe("the lines of two changes", () => {
  const base = flow([a, b, c], "a>b", "b>c");
  const edited = flow([a, line("b", "2"), c], "a>b", "b>c");
  const removed = flow([a, c]);
  const place = placeOf(["root", "activities", "id b"]);

  it("come back with an activity that one removed and the other changed", () => {
    const kept = joinedText(base, edited, removed);
    expect(kept.clashes).toHaveLength(1);
    expect(kept.text).toBe(writeText(edited, ""));
    // It does not matter who removed it.
    expect(joinedText(base, removed, edited, new Set([place])).text).toBe(writeText(edited, ""));
  });

  it("go where the activity stays removed", () => {
    expect(joinedText(base, edited, removed, new Set([place])).text).toBe(writeText(removed, ""));
    const drawn = flow([a, b, c], "a>b", "b>c", "c>b");
    expect(joinedText(base, drawn, removed).text).toBe(writeText(removed, ""));
  });

  it("come back only where the other end is still there, and not where they were removed by themselves", () => {
    expect(joinedText(base, edited, flow([a])).text).toBe(writeText(flow([a, line("b", "2")], "a>b"), ""));
    expect(joinedText(base, flow([line("a", "2"), b, c], "a>b", "b>c"), flow([a, b, c], "b>c")).text).toBe(
      writeText(flow([line("a", "2"), b, c], "b>c"), ""),
    );
  });

  it("of both sides are kept", () => {
    const both = joinedText(base, flow([a, b, c], "a>b", "b>c", "a>c"), flow([a, b, c], "a>b", "c>a"));
    expect(both).toEqual({ text: writeText(flow([a, b, c], "a>b", "c>a", "a>c"), ""), clashes: [] });
  });

  it("that led nowhere before stay as they are written", () => {
    const odd = (text: string) => flow([line("a", text), b], "a>gone");
    expect(joinedText(odd("1"), odd("2"), { ...(odd("1") as object), name: "E" } as Json).text).toBe(
      writeText({ ...(odd("2") as object), name: "E" } as Json, ""),
    );
  });

  it("come back between states, too", () => {
    const machine = (states: Json[], transitions: Json[]): Json => ({
      root: { type: "Elsa.StateMachine", id: "m", states, transitions },
    });
    const state = (name: string, more = {}): Json => ({ name, ...more });
    const step = { name: "go", from: "s", to: "t" };
    const mine = machine([state("s"), state("t", { note: "x" })], [step]);
    const both = joinedText(machine([state("s"), state("t")], [step]), mine, machine([state("s")], []));
    expect(both.text).toBe(writeText(mine, ""));
  });
});

describe("an activity that was moved", () => {
  const base = flow([a, box("s", b), box("t")], "a>s");

  it("has the changes of the other side, and is there once", () => {
    const moved = flow([a, box("s"), box("t", b)], "a>s");
    const edited = flow([a, box("s", line("b", "2")), box("t")], "a>s");
    const wanted = writeText(flow([a, box("s"), box("t", line("b", "2"))], "a>s"), "");
    expect(joinedText(base, moved, edited)).toEqual({ text: wanted, clashes: [] });
    expect(joinedText(base, edited, moved)).toEqual({ text: wanted, clashes: [] });
  });

  it("into or out of a container that only one side has", () => {
    const wrapped = flow([box("n", a), box("s", b), box("t")], "n>s");
    const edited = flow([line("a", "2"), box("s", b), box("t")], "a>s");
    expect(joinedText(base, wrapped, edited)).toEqual({
      text: writeText(flow([box("n", line("a", "2")), box("s", b), box("t")], "n>s"), ""),
      clashes: [],
    });
    const unwrapped = flow([a, b, box("t")], "a>b");
    const inner = flow([a, box("s", line("b", "2")), box("t")], "a>s");
    expect(joinedText(base, unwrapped, inner)).toEqual({
      text: writeText(flow([a, line("b", "2"), box("t")], "a>b"), ""),
      clashes: [],
    });
  });

  it("to two places clashes, and is at the one that is chosen", () => {
    const mine = flow([a, box("s"), box("t", b)], "a>s");
    const theirs = flow([a, box("s"), box("t"), b], "a>s");
    const first = joinedText(base, mine, theirs);
    expect(first.text).toBe(writeText(mine, ""));
    expect(first.clashes).toMatchObject([{ mine: "t", theirs: "f" }]);
    const chosen = new Set(first.clashes.map(({ path }) => placeOf(path)));
    expect(joinedText(base, mine, theirs, chosen).text).toBe(writeText(theirs, ""));
  });

  it("is where it was if what should hold it is gone", () => {
    const moved = flow([a, box("s"), box("t", b)], "a>s");
    const gone = flow([a, box("s", line("b", "2"))], "a>s");
    const takesTheirs = new Set([placeOf(["root", "activities", "id t"])]);
    expect(joinedText(base, moved, gone, takesTheirs).text).toBe(writeText(gone, ""));
  });

  it("into one that the other side moved into it is for the reader to choose", () => {
    const before = flow([box("s"), box("t")]);
    const [mine, theirs] = [flow([box("s", box("t"))]), flow([box("t", box("s"))])];
    const first = joinedText(before, mine, theirs);
    expect(first.text).toBe(writeText(mine, ""));
    expect(first.clashes.map(({ path }) => path)).toEqual([["root"]]);
  });
});

describe("what both add", () => {
  it("with one id is joined if it is the same thing, and else for the reader to choose", () => {
    const base = flow([a]);
    const delay: Json = { id: "b", type: "Elsa.Delay", timeSpan: "1" };
    const { text, clashes } = joinedText(base, flow([a, b]), flow([a, delay]));
    expect(text).toBe(writeText(flow([a, b]), ""));
    expect(clashes).toMatchObject([{ mine: b, theirs: delay }]);
    expect(joinedText(base, flow([a, b]), flow([a, b]))).toEqual({
      text: writeText(flow([a, b]), ""),
      clashes: [],
    });
  });

  it("stands in a list where its author put it", () => {
    const both = joinedText(
      flow([box("s", a, b)]),
      flow([box("s", line("a", "2"), b)]),
      flow([box("s", a, c, b)]),
    );
    expect(both.text).toBe(writeText(flow([box("s", line("a", "2"), c, b)]), ""));
  });
});
