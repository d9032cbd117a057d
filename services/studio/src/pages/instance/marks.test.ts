import { expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null });
const { marksOf } = await import("./marks");
const { bursts } = await import("./Story");

const line = (activityId: string, eventName: string) => ({ activityId, eventName });

it("marks activities as the journal left them, and counts their runs", () => {
  const marks = marksOf([
    line("a", "Started"),
    line("a", "Line"),
    line("a", "Completed"),
    line("b", "Started"),
    line("b", "Suspended"),
    line("a", "Started"),
  ]);
  expect(Object.fromEntries(marks)).toEqual({
    a: { status: "Running", runs: 2 },
    b: { status: "Suspended", runs: 1 },
  });
});

it("takes lines with one time as one burst", () => {
  const entry = (sequence: number, timestamp: string) =>
    ({ sequence, timestamp }) as Parameters<typeof bursts>[0][number];
  const parts = bursts([entry(1, "t1"), entry(2, "t1"), entry(3, "t2")]);
  expect(parts.map((part) => part.map(({ sequence }) => sequence))).toEqual([[1, 2], [3]]);
});
