import { describe, expect, it } from "vitest";
import { againAfter, isBehind, sharesOf } from "./shares";

const of = (definitionId: string, pending: number, executing: number, suspended: number) => ({
  definitionId,
  pending,
  executing,
  suspended,
  count: pending + executing + suspended,
});

describe("the bars of what runs", () => {
  it("are as long as the numbers, and never longer than their box", () => {
    const [many, few] = sharesOf([of("many", 10, 40, 50), of("few", 0, 0, 10)]);
    expect(many).toMatchObject({ id: "many", running: 50, waiting: 50 });
    expect(many?.runningWidth).toBeCloseTo(49.5);
    expect(few).toMatchObject({ running: 0, waiting: 10, runningWidth: 0 });
    expect(few?.waitingWidth).toBeCloseTo(9.9);
    for (const one of sharesOf([of("a", 1, 0, 99_999), of("b", 99_999, 0, 1), of("c", 0, 0, 1)])) {
      expect(one.runningWidth + one.waitingWidth).toBeLessThanOrEqual(100);
    }
  });

  it("show one of many, and nothing of none", () => {
    expect(sharesOf([])).toEqual([]);
    const [, one] = sharesOf([of("a", 0, 0, 100_000), of("b", 1, 0, 0)]);
    expect(one).toMatchObject({ runningWidth: 1, waitingWidth: 0 });
  });
});

it("what runs is behind where a figure counts what it does not", () => {
  expect(isBehind([], [0, 1])).toBe(true);
  expect(isBehind([], [0, undefined])).toBe(false);
  expect(isBehind([of("a", 1, 0, 0)], [1, 0])).toBe(false);
});

it("what runs is asked again soon where it counts others than the figures above, and seldom where it cannot know", () => {
  const all = { items: [of("a", 1, 0, 2), of("b", 0, 1, 0)], totalCount: 2, isCutShort: false };
  expect(againAfter(all, [2, 2])).toBe(10_000);
  expect(againAfter(all, [2, 3])).toBe(2000);
  expect(againAfter({ ...all, items: [], totalCount: 0 }, [2, 2])).toBe(1000);
  expect(againAfter({ ...all, isCutShort: true }, [2, 3])).toBe(10_000);
  expect(againAfter({ ...all, totalCount: 3 }, [2, 3])).toBe(10_000);
  expect(againAfter(all, [2, undefined])).toBe(10_000);
  expect(againAfter(undefined, [2, 3])).toBe(10_000);
});
