import { expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null });
const { lengthsOf, timelineOf } = await import("./executions");

const BEGIN = Date.parse("2026-11-25T12:00:00Z");
const at = (seconds: number) => new Date(BEGIN + seconds * 1000).toISOString();

const run = (node: string, from: number, to?: number, status = "Completed") => ({
  id: `${node} ${from}`,
  workflowInstanceId: "i",
  activityId: node.split(":").at(-1) ?? "",
  activityNodeId: node,
  activityType: "Elsa.WriteLine",
  activityTypeVersion: 1,
  startedAt: at(from),
  completedAt: to === undefined ? null : at(to),
  hasBookmarks: to === undefined,
  status,
  metadata: {},
  aggregateFaultCount: 0,
});

const story = [
  run("w", 0, 8),
  run("w:loop", 0, 8),
  run("w:loop:a", 0, 2, "Faulted"),
  run("w:loop:a", 4, 8),
  run("w:loop:b", 8, 8),
];

it("has a lane for each activity with a bar for each execution, and knows what waits", () => {
  const { from, to, lanes } = timelineOf(story, BEGIN + 60_000);
  expect([from, to]).toEqual([BEGIN, BEGIN + 8000]);
  expect(lanes.map(({ activity, depth, milliseconds }) => [activity, depth, milliseconds])).toEqual([
    ["w", 0, 8000],
    ["loop", 1, 8000],
    ["a", 2, 6000],
    ["b", 2, 0],
  ]);
  const bars = lanes.map((lane) => lane.bars.map((bar) => [bar.at, bar.length, bar.status, bar.isWait]));
  expect(bars[1]).toEqual([[0, 1, "Completed", false]]);
  expect(bars[2]).toEqual([
    [0, 0.25, "Faulted", true],
    [0.5, 0.5, "Completed", true],
  ]);
  expect(bars[3]).toEqual([[1, 0, "Completed", false]]);
});

it("draws what still waits until now", () => {
  const [lane] = timelineOf([run("w", 0, undefined, "Running")], BEGIN + 5000).lanes;
  expect(lane).toMatchObject({
    status: "Suspended",
    milliseconds: 5000,
    bars: [{ length: 1, isWait: true }],
  });
});

it("ends what holds the fault of an instance with it, and says that the rest was cancelled", () => {
  const ran = [
    run("w", 0, undefined, "Running"),
    run("w:flow", 0, undefined, "Running"),
    run("w:flow:bad", 1, 2, "Faulted"),
    run("w:other", 1, undefined, "Running"),
  ];
  const states = (ending: string) =>
    timelineOf(ran, BEGIN + 5000, ending).lanes.map(({ activity, status }) => `${activity} ${status}`);
  expect(states("Faulted")).toEqual(["w Faulted", "flow Faulted", "bad Faulted", "other Cancelled"]);
  expect(states("Cancelled")).toEqual(["w Cancelled", "flow Cancelled", "bad Faulted", "other Cancelled"]);
});

it("knows how long an activity took where all of its executions are here", () => {
  const runs = new Map([
    ["a", 2],
    ["b", 3],
    ["w", 1],
  ]);
  expect(Object.fromEntries(lengthsOf(story, runs))).toEqual({ a: 4000, w: 8000 });
});
