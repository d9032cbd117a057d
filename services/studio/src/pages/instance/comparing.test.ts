import { describe, expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null });
const { movesOf, outputDifferences, pointsOf, variableDifferences } = await import("./comparing");

const line = (sequence: number, activityId: string, eventName: string, outputs: object = {}) => ({
  sequence,
  activityId,
  eventName,
  message: null,
  outputs: outputs as Record<string, never>,
  payload: null as never,
  timestamp: "2026-01-01T00:00:00Z",
});
const then = (variables: object, containers: object[] = []) => ({
  variables: variables as Record<string, never>,
  containers: containers as never[],
});

describe("the points of a comparison", () => {
  it("are in the address, the earlier one first", () => {
    expect(pointsOf({ from: "2", at: "7" }, 9)).toEqual([2, 7]);
    expect(pointsOf({ from: "7", at: "2" }, 9)).toEqual([2, 7]);
    expect(pointsOf({ from: "7" }, 9)).toEqual([7, 9]);
  });

  it("are lines that the journal has", () => {
    expect(pointsOf({ from: "0", at: "80" }, 9)).toEqual([1, 9]);
    expect(pointsOf({ at: "3" }, 9)).toBeUndefined();
    expect(pointsOf({ from: "x" }, 9)).toBeUndefined();
    expect(pointsOf({ from: "1" }, 0)).toBeUndefined();
  });
});

describe("two points of an instance", () => {
  it("differ in variables that changed, came or went", () => {
    const before = then({ Same: [1], Qty: 1, Gone: "x" });
    const after = then({ Same: [1], Qty: 2, New: null });
    expect(variableDifferences(before, after)).toEqual([
      { name: "Qty", activity: undefined, before: 1, after: 2 },
      { name: "Gone", activity: undefined, before: "x", after: undefined },
      { name: "New", activity: undefined, before: undefined, after: null },
    ]);
  });

  it("differ in the variables of a container, each execution by itself", () => {
    const one = (activityInstanceId: string, Item: number) => ({
      activityId: "each",
      activityInstanceId,
      activityNodeId: "Workflow1:each",
      variables: { Item },
    });
    expect(variableDifferences(then({}, [one("1", 5)]), then({}, [one("1", 5), one("2", 6)]))).toEqual([
      { name: "Item", activity: "each", before: undefined, after: 6 },
    ]);
  });

  const lines = [
    line(1, "a", "Started"),
    line(2, "a", "Completed", { Result: 1 }),
    line(3, "b", "Started"),
    line(4, "b", "Suspended"),
    line(5, "a", "Started"),
    line(6, "a", "Completed", { Result: 2 }),
  ];

  it("differ in the outputs of activities", () => {
    expect(outputDifferences(lines, 2, 6)).toEqual([{ name: "Result", activity: "a", before: 1, after: 2 }]);
    expect(outputDifferences(lines, 1, 2)).toEqual([
      { name: "Result", activity: "a", before: undefined, after: 1 },
    ]);
    expect(outputDifferences(lines, 2, 5)).toEqual([]);
  });

  it("differ in how far activities are, and how often they ran", () => {
    expect(movesOf(lines, 2, 6)).toEqual([
      { activity: "a", before: { status: "Completed", runs: 1 }, after: { status: "Completed", runs: 2 } },
      { activity: "b", before: undefined, after: { status: "Suspended", runs: 1 } },
    ]);
    expect(movesOf(lines, 6, 6)).toEqual([]);
  });
});
