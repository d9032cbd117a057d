import { expect, it } from "vitest";
import { aboutOf, changedVariable, valueThen } from "./alterations";

const line = (message: string, payload: unknown) => ({ eventName: "Altered", message, payload });
const about = (message: string, payload: unknown) =>
  aboutOf(
    line(message, payload),
    (id) => `activity ${id}`,
    (id) => `variable ${id}`,
  );

it("says what a change by hand was about", () => {
  expect(about("ModifyVariable", { variableId: "v1" })).toBe("variable v1");
  expect(about("Retry", { activities: [{ activityId: "check", incident: "no" }, { incident: "x" }] })).toBe(
    "activity check",
  );
  expect(about("ScheduleActivity", { activityId: "ask", activityInstanceId: null })).toBe("activity ask");
  expect(about("Migrate", { fromVersion: 1, toVersion: 2, activities: { a: "b" } })).toBe("v1 → v2");
  expect(about("Pause", { reason: "night" })).toBe("night");
  for (const payload of [null, undefined, {}, { activities: [] }, "x"])
    expect(about("Unpause", payload)).toBeUndefined();
  expect(
    aboutOf({ ...line("Retry", { activityId: "a" }), eventName: "Started" }, String, String),
  ).toBeUndefined();
});

it("knows whose value a line changed", () => {
  expect(changedVariable(line("ModifyVariable", { variableId: "v1" }))).toBe("v1");
  expect(changedVariable(line("Retry", { variableId: "v1" }))).toBeUndefined();
});

it("finds the value of a variable at a point in time, also where an activity declares it", () => {
  const then = { variables: { Qty: 1 }, containers: [{ variables: { Step: 2 } }] } as never;
  expect([valueThen(then, "Qty"), valueThen(then, "Step"), valueThen(then, "Other")]).toEqual([
    1,
    2,
    undefined,
  ]);
});
