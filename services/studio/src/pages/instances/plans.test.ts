import { describe, expect, it } from "vitest";
import type { Api } from "../../api/types";
import { endOf, TONES } from "./plans";

const seen = (progress: Partial<Api["PlanProgress"]>, status = "Completed", isOver = true) => ({
  plan: {
    id: "p",
    alterations: [],
    workflowInstanceFilter: {},
    status,
    createdAt: "2026-01-01T00:00:00Z",
    completedAt: isOver ? "2026-01-01T00:00:01Z" : null,
  } as Api["PlanSeen"]["plan"],
  progress: { completed: 0, failed: 0, running: 0, pending: 0, ...progress },
});

describe("the end of a plan", () => {
  it.each([
    [{ completed: 120 }, { key: "succeeded", all: 120 }, "good"],
    [{ completed: 108, failed: 12 }, { key: "partly", failed: 12, all: 120 }, "warn"],
    [{ failed: 3 }, { key: "failed", all: 3 }, "bad"],
    [{}, { key: "empty" }, "plain"],
  ] as const)("is what its jobs came to: %j", (progress, expected, tone) => {
    const end = endOf(seen(progress));
    expect(end).toEqual(expected);
    expect(end && TONES[end.key]).toBe(tone);
  });

  it("is no success of the instances where failures were retried", () => {
    const plan = {
      ...seen({ completed: 7 }).plan,
      alterations: [{ type: "Retry" }],
    } as Api["PlanSeen"]["plan"];
    const { progress } = seen({ completed: 7 });
    expect(endOf({ plan, progress })).toEqual({ key: "retried", all: 7 });
    expect(endOf({ plan, progress }, 6)).toEqual({ key: "again", again: 6, failed: 0, all: 7 });
    expect(TONES.again).toBe("warn");
  });

  it("is a stop where jobs were never begun", () => {
    expect(endOf(seen({ completed: 64, pending: 136 }))).toEqual({ key: "stopped", left: 136, all: 200 });
    expect(endOf(seen({ completed: 64, failed: 1, pending: 135 }))).toMatchObject({ left: 135 });
    expect(TONES.stopped).toBe("warn");
  });

  it("is not there while it goes on", () => {
    expect(endOf(seen({ failed: 3 }, "Running", false))).toBeUndefined();
  });

  it("is bad for a plan that could not be carried out", () => {
    expect(endOf(seen({ completed: 1 }, "Failed"))).toEqual({ key: "broken" });
    expect(TONES.broken).toBe("bad");
  });
});
