import { expect, it } from "vitest";
import { WIDTH } from "../../model/layout";
import { indexOf } from "../../model/testing";
import { ROOT, viewOf } from "../../model/view";
import { nodesOf } from "./nodes";

/** How far Elsa puts one activity from the next. */
const ELSA = 200;

it("the line between two activities at Elsa's spacing has room to be seen", () => {
  const line = (id: string) => ({ type: "Elsa.WriteLine", id, text: "x" });
  const index = indexOf({
    root: { type: "Elsa.Flowchart", id: "f", activities: [line("a"), line("b")], connections: [] },
  });
  const places = new Map([
    ["a", { x: 0, y: 0 }],
    ["b", { x: ELSA, y: 0 }],
  ]);
  const from = {
    index,
    view: viewOf(index, ROOT),
    places,
    selected: [],
    problems: new Map(),
    pins: new Set<string>(),
  };
  const [one, other] = nodesOf(
    { ...from, marks: undefined, inPlace: new Set(), isReadonly: false },
    new Map(),
  );
  // The places themselves are as they are written.
  expect([one?.position.x, other?.position.x]).toEqual([0, ELSA]);
  const out = one?.handles?.find(({ type }) => type === "source");
  const into = other?.handles?.find(({ type }) => type === "target");
  const begin = (one?.position.x ?? 0) + (out?.x ?? 0) + (out?.width ?? 0) / 2;
  const end = (other?.position.x ?? 0) + (into?.x ?? 0) + (into?.width ?? 0) / 2;
  expect(end - begin).toBeGreaterThanOrEqual(16);
  expect(one?.width).toBeLessThan(WIDTH);
});
