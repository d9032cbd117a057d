import fc from "fast-check";
import { expect, it } from "vitest";
import order from "../../../staunch/examples/order-approval.json";
import { type Box, HEIGHT, outline, type Way, WIDTH } from "./outline";
import { currentOf, isCut, outcomesBy, startOf, titlesOf, turnBetween, viewOf } from "./view";

const box = (id: string, x: number, y = 0): Box => ({ id, name: id, about: "Write Line", x, y });
const row = (count: number) => Array.from({ length: count }, (_, at) => box(`a${at}`, at * 240));
const way = (from: string, to: string, word = ""): Way => ({ id: `${from}${word}${to}`, from, to, word });
const mark = (status: string) => ({ status, runs: 1 });
const WINDOW = { width: 800, height: 500 };

/** Whether all of a box is in the window. */
function isSeen(one: Box | undefined, boxes: Box[], focus: Box | undefined): boolean {
  const { x, y, zoom } = viewOf(boxes, focus, WINDOW);
  const [left, top] = [(one?.x ?? 0) * zoom + x, (one?.y ?? 0) * zoom + y];
  return left >= 0 && top >= 0 && left + WIDTH * zoom <= WINDOW.width && top + HEIGHT * zoom <= WINDOW.height;
}

it("looks at what failed, waits or runs, or else at what ran last", () => {
  const boxes = row(4);
  const of = (marks: [string, string][]) =>
    currentOf(boxes, new Map(marks.map(([id, status]) => [id, mark(status)])))?.id;
  expect(of([])).toBe("a0");
  expect(
    of([
      ["a0", "Completed"],
      ["a1", "Completed"],
    ]),
  ).toBe("a1");
  expect(
    of([
      ["a0", "Running"],
      ["a1", "Suspended"],
      ["a2", "Faulted"],
      ["a3", "Completed"],
    ]),
  ).toBe("a2");
});

it("shows all of a graph that can be read then", () => {
  const boxes = row(4);
  expect(boxes.every((one) => isSeen(one, boxes, boxes[3]))).toBe(true);
});

it("shows all six cards of a flow that is 1,360 wide, also beside a panel", () => {
  const places = [
    [2060, 2380],
    [2320, 2280],
    [2460, 2500],
    [2620, 2280],
    [2940, 2400],
    [3220, 2400],
  ];
  const boxes = places.map(([x, y], at) => box(`a${at}`, x ?? 0, y));
  expect(boxes.every((one) => isSeen(one, boxes, boxes[0]))).toBe(true);
});

it("shows what is current, and the first box where both have room", () => {
  const boxes = row(20);
  expect([0, 1, 2, 3].map((at) => isSeen(boxes[0], boxes, boxes[at]))).toEqual([true, true, true, true]);
  expect(isSeen(boxes[0], boxes, boxes[9])).toBe(false);
  const places = fc.array(
    fc.tuple(fc.integer({ max: 5000, min: -5000 }), fc.integer({ max: 5000, min: -5000 })),
    {
      minLength: 1,
      maxLength: 30,
    },
  );
  fc.assert(
    fc.property(places, fc.nat(), (all, at) => {
      const some = all.map(([x, y], number) => box(`b${number}`, x, y));
      const focus = some[at % some.length];
      expect(isSeen(focus, some, focus)).toBe(true);
    }),
  );
});

it("shows all of the example beside a panel, in letters that can be read", () => {
  const { boxes, isDown } = outline(order.root);
  // The graph of an instance in a window of 1280 by 800.
  const size = { width: 576, height: 420 };
  expect([isDown, isCut(boxes, size)]).toEqual([false, false]);
  expect(viewOf(boxes, boxes[4], size).zoom).toBeGreaterThan(0.5);
});

it("a graph that opens with a part of it is one that would be too small, and begins where the workflow begins", () => {
  const boxes = [box("last", 4800), ...row(20)];
  const ways = row(19).map((one, at) => way(one.id, `a${at + 1}`));
  const start = startOf(boxes, [...ways, way("a19", "last")]);
  expect([isCut(boxes, WINDOW), isCut(row(4), WINDOW), isCut([], WINDOW)]).toEqual([true, false, false]);
  expect(start?.id).toBe("a0");
  const { x, zoom } = viewOf(boxes, start, WINDOW, start);
  expect(x).toBeGreaterThanOrEqual(0);
  expect(zoom).toBe(0.8);
  expect(currentOf(boxes, undefined, start)?.id).toBe("a0");
  expect(startOf(row(2), [way("a0", "a1"), way("a1", "a0")])?.id).toBe("a0");
});

it("outcomes stand in the order of where they lead, and lines turn past their words", () => {
  const boxes = [box("if", 0, 100), box("up", 400, 0), box("down", 400, 200), box("end", 800)];
  const ways = [way("if", "down", "True"), way("if", "up", "False"), way("up", "end"), way("down", "end")];
  expect([...outcomesBy(boxes, ways)]).toEqual([["if", ["False", "True"]]]);
  const turn = turnBetween(180, 272, ["False", "True"]);
  expect(turn).toBeGreaterThan(180 + 6 + 5 * 6);
  expect(turn).toBeLessThan(272);
  expect(turnBetween(180, 580, ["False", "True"])).toBe(380);
  // A single word is passed, too, and a short line is turned in its middle.
  expect(turnBetween(0, 80, ["Approved"])).toBe(60);
  expect(turnBetween(0, 20, [""])).toBe(10);
});

it("two boxes of one name are told apart by their ids", () => {
  const boxes = [{ ...box("d1", 0), name: "Delay" }, { ...box("d2", 300), name: "Delay" }, box("a", 600)];
  expect([...titlesOf(boxes).values()]).toEqual(["Delay (d1)", "Delay (d2)", "a"]);
});
