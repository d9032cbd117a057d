import { describe, expect, it } from "vitest";
import { outline, portsOf } from "./outline";

const then = "then";

const line = (id: string) => ({ id, type: "Elsa.WriteLine" });

describe("the outcomes that lead on", () => {
  const way = (source: string, port?: string) => ({
    source: port === undefined ? source : { activity: source, port },
    target: { activity: "z", port: "In" },
  });
  const inner = {
    id: "inner",
    type: "Elsa.Flowchart",
    activities: [line("a"), line("z")],
    connections: [way("a", "Paid"), way("a", "Declined"), way("a", "Paid"), way("z", "Done")],
  };

  it("are those of the lines of any flowchart, each once", () => {
    const root = { id: "s", type: "Elsa.Sequence", activities: [inner, line("b")] };
    expect(portsOf(root, "a")).toEqual(["Paid", "Declined"]);
    expect(portsOf(root, "b")).toEqual([]);
    expect(portsOf({ ...inner, connections: [way("a")] }, "a")).toEqual(["Done"]);
    expect(portsOf(undefined, "a")).toEqual([]);
  });
});

describe("outline", () => {
  it("draws a flowchart with the words of its ways", () => {
    const drawn = outline({
      id: "f",
      type: "Elsa.Flowchart",
      activities: [line("a"), line("b"), line("c")],
      connections: [
        { source: { activity: "a", port: "True" }, target: { activity: "b", port: "In" } },
        { source: { activity: "a", port: "Done" }, target: { activity: "c", port: "In" } },
      ],
    });
    expect(drawn.boxes.map((box) => box.id)).toEqual(["a", "b", "c"]);
    expect(drawn.ways.map(({ from, to, word }) => [from, to, word])).toEqual([
      ["a", "b", "True"],
      ["a", "c", ""],
    ]);
  });

  it("draws a sequence as a chain, and what is in a container from its port", () => {
    const drawn = outline({
      id: "s",
      type: "Elsa.Sequence",
      activities: [
        {
          id: "if",
          type: "Elsa.If",
          [then]: { id: "s2", type: "Elsa.Sequence", activities: [line("x"), line("y")] },
        },
        line("z"),
      ],
    });
    expect(drawn.ways.map(({ from, to, word }) => [from, to, word])).toEqual([
      ["x", "y", ""],
      ["if", "x", "then"],
      ["if", "z", ""],
    ]);
  });

  it("goes on after the last activity of a sequence in a flowchart", () => {
    const drawn = outline({
      id: "f",
      type: "Elsa.Flowchart",
      activities: [{ id: "s", type: "Elsa.Sequence", activities: [line("x"), line("y")] }, line("z")],
      connections: [{ source: "s", target: "z", sourcePort: "Done", targetPort: "In" }],
    });
    expect(drawn.ways.map(({ from, to }) => [from, to])).toEqual([
      ["x", "y"],
      ["y", "z"],
    ]);
  });

  describe("the branches of an arranged drawing", () => {
    const acrossOf = (root: unknown, ids: string[]) => {
      const { boxes } = outline(root, true);
      return boxes
        .filter(({ id }) => ids.includes(id))
        .sort((one, other) => one.x - other.x)
        .map(({ id }) => id);
    };
    const flow = (ids: string[], ways: [string, string, string?][]) => ({
      id: "f",
      type: "Elsa.Flowchart",
      activities: ids.map(line),
      connections: ways.map(([source, target, port = "Done"]) => ({
        source: { activity: source, port },
        target: { activity: target, port: "In" },
      })),
    });

    it.each([2, 3, 5, 12])("of a Parallel stand in the order of the definition: %i", (count) => {
      const ids = Array.from({ length: count }, (_, at) => `b${at}`);
      const branch = (id: string, at: number) =>
        at % 2 === 0
          ? line(id)
          : { id: `s${at}`, type: "Elsa.Sequence", activities: [line(id), line(`c${at}`)] };
      const parallel = { id: "p", type: "Elsa.Parallel", activities: ids.map(branch) };
      expect(acrossOf(parallel, ids)).toEqual(ids);
      const inside = { id: "s", type: "Elsa.Sequence", activities: [line("first"), parallel, line("last")] };
      expect(acrossOf(inside, ids)).toEqual(ids);
    });

    it("of a flowchart stand in the order of its lines, with and without words", () => {
      const ids = ["b", "c", "d"];
      const words = flow(
        ["a", "d", "c", "b"],
        [
          ["a", "b", "One"],
          ["a", "c", "Two"],
          ["a", "d", "Three"],
        ],
      );
      expect(acrossOf(words, ids)).toEqual(ids);
      const joined = flow(
        ["a", "b", "c", "d", "e"],
        [
          ...ids.map((id) => ["a", id] as [string, string]),
          ...ids.map((id) => [id, "e"] as [string, string]),
        ],
      );
      expect(acrossOf(joined, ids)).toEqual(ids);
    });

    it("change places where lines would cross otherwise", () => {
      const crossed = flow(
        ["a", "b", "c", "d", "e"],
        [
          ["a", "b"],
          ["a", "c"],
          ["b", "e"],
          ["c", "d"],
          ["b", "d"],
        ],
      );
      const { boxes } = outline(crossed, true);
      const x = (id: string) => boxes.find((box) => box.id === id)?.x ?? 0;
      expect(Math.sign(x("b") - x("c"))).toBe(Math.sign(x("e") - x("d")));
      expect(x("b")).toBeLessThan(x("c"));
    });
  });

  it("keeps places that do not overlap", () => {
    const placed = (id: string, x: number) => ({
      ...line(id),
      metadata: { designer: { position: { x, y: 10 } } },
    });
    const drawn = outline({
      id: "f",
      type: "Elsa.Flowchart",
      activities: [placed("a", 0), placed("b", 500)],
      connections: [],
    });
    expect(drawn.boxes.map(({ x, y }) => [x, y])).toEqual([
      [0, 10],
      [500, 10],
    ]);
  });

  it("draws what an earlier version has and this one has not, and the ways of that alone", () => {
    const flow = (...ids: string[]) => ({
      id: "f",
      type: "Elsa.Flowchart",
      activities: ids.map(line),
      connections: ids.slice(1).map((id, at) => ({ source: ids[at], target: id })),
    });
    const drawn = outline(flow("a", "c"), false, flow("a", "b", "c"));
    expect(drawn.boxes.map((box) => box.id)).toEqual(["a", "c", "b"]);
    expect(drawn.ways.map(({ from, to, isGone }) => [from, to, isGone ?? false])).toEqual([
      ["a", "c", false],
      ["a", "b", true],
      ["b", "c", true],
    ]);
  });

  it("draws nothing of what is no activity", () => {
    expect(outline(null)).toEqual({ boxes: [], ways: [], isDown: true });
  });
});
