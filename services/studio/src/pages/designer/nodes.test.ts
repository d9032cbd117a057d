import { expect, it } from "vitest";
import { CARD, WIDTH } from "../../model/layout";
import { indexOf } from "../../model/testing";
import { ROOT, viewOf } from "../../model/view";
import { edgesOf, nodesOf } from "./nodes";

/** How far Elsa puts one activity from the next. */
const ELSA = 200;

const line = (id: string) => ({ type: "Elsa.WriteLine", id, text: "x" });

/** Two cards of a flowchart, the second one at this place. */
function pair(second: { x: number; y: number }) {
  const index = indexOf({
    root: { type: "Elsa.Flowchart", id: "f", activities: [line("a"), line("b")], connections: [] },
  });
  const places = new Map([
    ["a", { x: 0, y: 0 }],
    ["b", second],
  ]);
  const from = { index, view: viewOf(index, ROOT), places, selected: [], problems: new Map() };
  const more = { pins: new Set<string>(), marks: undefined, inPlace: new Set<string>(), isReadonly: false };
  return nodesOf({ ...from, ...more }, new Map());
}

/** How much of the line from the first card to the second is seen. */
function seen([one, other]: ReturnType<typeof pair>): number {
  const out = one?.handles?.find(({ type }) => type === "source");
  const into = other?.handles?.find(({ type }) => type === "target");
  const begin = (one?.position.x ?? 0) + (out?.x ?? 0) + (out?.width ?? 0) / 2;
  const end = (other?.position.x ?? 0) + (into?.x ?? 0) + (into?.width ?? 0) / 2;
  return end - begin;
}

it("the line between two activities at Elsa's spacing has room to be seen", () => {
  const nodes = pair({ x: ELSA, y: 0 });
  // The places themselves are as they are written.
  expect(nodes.map(({ position }) => position.x)).toEqual([0, ELSA]);
  expect(seen(nodes)).toBeGreaterThanOrEqual(16);
  expect(nodes[0]?.width).toBeLessThan(WIDTH);
});

it("a card that would touch the next one is narrower, and its place stays", () => {
  const nodes = pair({ x: 167, y: 0 });
  expect(nodes.map(({ position }) => position.x)).toEqual([0, 167]);
  expect(nodes.map(({ width }) => width)).toEqual([147, CARD]);
  expect(seen(nodes)).toBe(20);
});

it("cards one below the other, or one upon the other, are as wide as all", () => {
  for (const place of [
    { x: 167, y: 100 },
    { x: 24, y: 24 },
    { x: 167, y: -100 },
  ])
    expect(pair(place).map(({ width }) => width)).toEqual([CARD, CARD]);
});

it("a line is named by its cards and its outcome; cards of one name are told apart", () => {
  const to = (source: string, port: string, target: string) => ({ source, sourcePort: port, target });
  const delay = (id: string) => ({ type: "Elsa.Delay", id });
  const named = (first: string) => {
    const index = indexOf({
      root: {
        type: "Elsa.Flowchart",
        id: "f",
        activities: [{ ...line("5f1d9c2a7b3e4d60"), name: first }, delay("d1"), delay("d2")],
        connections: [to("5f1d9c2a7b3e4d60", "Done", "d1"), to("d1", "Done", "d2")],
      },
    });
    return { index, view: viewOf(index, ROOT) };
  };
  const drawn = ({ index, view }: ReturnType<typeof named>, before = new Map()) =>
    edgesOf(index, view, [], undefined, before);
  const edges = drawn(named("Say it"));
  expect(edges.map(({ ariaLabel }) => ariaLabel)).toEqual([
    "Line from Say it (Done) to Delay (d1)",
    "Line from Delay (d1) (Done) to Delay (d2)",
  ]);
  const before = new Map(edges.map((edge) => [edge.id, edge]));
  const later = drawn(named("Say that"), before);
  expect(later[0]?.ariaLabel).toBe("Line from Say that (Done) to Delay (d1)");
  expect(later[1]).toBe(edges[1]);
});
