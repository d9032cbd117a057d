import { expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null });
const { resolutionsOf, wayOf, withSkips } = await import("./resolutions");
const { timelineOf } = await import("./executions");
type Execution = Parameters<typeof withSkips>[0][number];

const change = (sequence: number, message: string, payload: unknown) => ({
  eventName: "Altered",
  message,
  payload: payload as never,
  sequence,
  timestamp: `2026-01-01T00:00:0${sequence}.000Z`,
});

const lines = [
  change(1, "Retry", { activities: [{ activityId: "charge", incident: "no card" }] }),
  change(2, "Pause", { reason: "lunch" }),
  change(3, "Skip", {
    activities: [
      { activityId: "charge", incident: "no card" },
      { activityId: "ship", incident: null },
    ],
  }),
  change(4, "Retry", { activities: [{ incident: "too many steps" }] }),
  change(5, "Retry", null),
];

it("tells which incidents were resolved, how and when", () => {
  expect(resolutionsOf(lines).map(({ way, activity, message }) => [way, activity, message])).toEqual([
    ["Retry", "charge", "no card"],
    ["Skip", "charge", "no card"],
    ["Skip", "ship", undefined],
    ["Retry", undefined, "too many steps"],
  ]);
  expect(new Set(resolutionsOf(lines).map(({ key }) => key)).size).toBe(4);
  expect(resolutionsOf(lines)[1]?.at).toBe("2026-01-01T00:00:03.000Z");
});

it("tells executions that were skipped from those that completed", () => {
  const execution = (activityId: string, completedAt: string | null) =>
    ({
      id: activityId + completedAt,
      activityId,
      activityNodeId: `Workflow1:${activityId}`,
      activityType: "Elsa.WriteLine",
      startedAt: "2026-01-01T00:00:00Z",
      completedAt,
      status: completedAt ? "Completed" : "Running",
    }) as Execution;
  const all = [
    execution("charge", "2026-01-01T00:00:03Z"),
    execution("charge", "2026-01-01T00:00:04Z"),
    execution("say", "2026-01-01T00:00:03Z"),
    execution("ship", null),
  ];
  const now = withSkips(all, resolutionsOf(lines));
  expect(now.map(({ status }) => status)).toEqual(["Skipped", "Completed", "Completed", "Running"]);
  const [lane] = timelineOf(now, Date.parse("2026-01-01T00:00:05Z")).lanes;
  expect(lane?.bars.map(({ status }) => status)).toEqual(["Skipped", "Completed"]);
});

it("says how an incident was resolved that is none any more", () => {
  const resolutions = resolutionsOf(lines);
  const at = (activityId: string, second: number) =>
    wayOf(resolutions, { activityId, timestamp: `2026-01-01T00:00:0${second}Z` });
  expect([at("charge", 0), at("charge", 2), at("charge", 4)]).toEqual(["Retry", "Skip", undefined]);
  expect([at("ship", 0), at("bill", 0)]).toEqual(["Skip", undefined]);
});
