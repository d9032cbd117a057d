import { describe, expect, it } from "vitest";
import type { Api } from "../../api/types";
import { heldBy, isOpen, mapOf, unplaced } from "./places";

const event = (id: string, name?: string) => ({ id, type: "Elsa.Event", name });
const line = (id: string) => ({ id, type: "Elsa.WriteLine" });
const root = (...activities: object[]) => ({ id: "all", type: "Elsa.Sequence", activities });

describe("the activities that have no place in another version", () => {
  it("are none where each is there with its type", () => {
    const short = { id: "wait", type: "Event" };
    expect(unplaced(["all", "wait"], root(event("wait")), root(line("a"), short))).toEqual([]);
  });

  it("are offered those of their type, new ones first", () => {
    const here = root(event("wait"), event("other"));
    const there = root(event("other", "The other"), line("wait"), event("manager", "Manager"));
    expect(unplaced(["all", "wait", "inner-of-a-used-workflow"], here, there)).toEqual([
      {
        id: "wait",
        name: "Event (wait)",
        places: [
          ["manager", "Manager"],
          ["other", "The other"],
        ],
      },
    ]);
  });

  it("may have no place at all", () => {
    const other = { id: "b", type: "Acme.Event" };
    expect(unplaced(["wait"], root(event("wait")), root(line("a"), other))).toMatchObject([
      { id: "wait", places: [] },
    ]);
  });
});

describe("where an instance is", () => {
  const state = (subStatus: string) =>
    ({
      subStatus,
      activityExecutionContexts: [{ activityId: "Workflow1" }, { activityId: "all" }, { activityId: "wait" }],
      scheduledActivities: [{ activityId: "next" }, { activityId: "wait" }, {}],
      incidents: [{ activityId: "check" }],
    }) as unknown as Api["WorkflowState"];

  it("is what runs, waits and comes next, and what failed where it is over", () => {
    expect(heldBy(state("Suspended"))).toEqual(["Workflow1", "all", "wait", "next", ""]);
    expect(heldBy(state("Faulted"))).toContain("check");
  });
});

describe("the map of a migration", () => {
  const missing = unplaced(["wait"], root(event("wait")), root(event("manager")));

  it("has what was chosen among the places", () => {
    expect(mapOf(missing, { wait: "manager", all: "manager" })).toEqual({ wait: "manager" });
  });

  it("is open while an activity that could have a place has none", () => {
    expect(isOpen(missing, {})).toBe(true);
    expect(isOpen(missing, { wait: "" })).toBe(true);
    expect(isOpen(missing, { wait: "manager" })).toBe(false);
    expect(isOpen(unplaced(["wait"], root(event("wait")), root(line("a"))), {})).toBe(false);
    expect(isOpen([], {})).toBe(false);
  });

  it("is not there where nothing is chosen or needed", () => {
    expect(mapOf(missing, {})).toBeUndefined();
    expect(mapOf(missing, { wait: "of-another-version" })).toBeUndefined();
    expect(mapOf([], { wait: "manager" })).toBeUndefined();
  });
});
