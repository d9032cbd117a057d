import fc from "fast-check";
import { expect, it } from "vitest";
import { type Box, HEIGHT, WIDTH } from "./outline";
import { currentOf, viewOf } from "./view";

const box = (id: string, x: number, y = 0): Box => ({ id, name: id, about: "Write Line", x, y });
const row = (count: number) => Array.from({ length: count }, (_, at) => box(`a${at}`, at * 240));
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
