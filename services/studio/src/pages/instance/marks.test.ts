import { expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null });
const { endsOf, marksOf, statusesOf } = await import("./marks");
const { bursts } = await import("./Story");

const line = (
  activityId: string,
  eventName: string,
  message: string | null = null,
  payload: unknown = null,
) => ({
  activityId,
  eventName,
  message,
  payload: payload as never,
  sequence: 1,
  timestamp: "2026-01-01T00:00:00Z",
});

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

it("marks what was skipped as skipped, until it runs again", () => {
  const lines = [
    line("a", "Started"),
    line("a", "Faulted"),
    line("Workflow1", "Altered", "Skip", { activities: [{ activityId: "a", incident: "no card" }] }),
    line("a", "Completed"),
  ];
  expect(marksOf(lines).get("a")?.status).toBe("Skipped");
  expect(marksOf(lines.slice(0, 3)).get("a")?.status).toBe("Faulted");
  expect(marksOf([...lines, line("a", "Started"), line("a", "Completed")]).get("a")?.status).toBe(
    "Completed",
  );
});

it("lets the last execution of what was mended by hand decide", () => {
  const execution = (activityId: string, status: string, completedAt: string | null) =>
    ({ activityId, status, completedAt }) as Parameters<typeof endsOf>[0][number];
  const resolution = (way: "Retry" | "Skip", activity: string, at: string) => ({
    key: at,
    way,
    activity,
    at,
  });
  const early = "2026-01-01T00:00:01Z";
  const late = "2026-01-01T00:00:02Z";
  const executions = [
    execution("skipped", "Faulted", early),
    execution("skipped", "Completed", late),
    execution("retried", "Faulted", early),
    execution("retried", "Completed", late),
    execution("again", "Faulted", early),
    execution("again", "Faulted", late),
    execution("other", "Faulted", early),
    execution("other", "Completed", late),
  ];
  const resolutions = [
    resolution("Retry", "skipped", early),
    resolution("Skip", "skipped", late),
    resolution("Retry", "retried", early),
    resolution("Retry", "again", early),
  ];
  expect(Object.fromEntries(endsOf(executions, resolutions))).toEqual({
    skipped: "Skipped",
    retried: "Completed",
  });
});

it("takes lines with one time as one burst", () => {
  const entry = (sequence: number, timestamp: string) =>
    ({ sequence, timestamp }) as Parameters<typeof bursts>[0][number];
  const parts = bursts([entry(1, "t1"), entry(2, "t1"), entry(3, "t2")]);
  expect(parts.map((part) => part.map(({ sequence }) => sequence))).toEqual([[1, 2], [3]]);
});

it("ends what holds the fault of an instance with it, and says that the rest was cancelled", () => {
  const stats = (activityId: string, around: string, isFaulted = false, completedCount = 0) => ({
    activityId,
    activityNodeId: `${around}${activityId}`,
    aggregateFaultCount: 0,
    completedCount,
    startedCount: 1,
    uncompletedCount: 1 - completedCount,
    isBlocked: false,
    isFaulted,
  });
  const all = [stats("w", ""), stats("a", "w:", false, 1), stats("b", "w:", true), stats("c", "w:")];
  const states = (ending?: string) => Object.fromEntries(statusesOf(all, ending));
  expect(states("Faulted")).toEqual({ w: "Faulted", a: "Completed", b: "Faulted", c: "Cancelled" });
  expect(states("Cancelled")).toMatchObject({ w: "Cancelled", c: "Cancelled" });
  expect(states()).toMatchObject({ w: "Running", c: "Running" });
});
