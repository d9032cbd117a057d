import { expect, it } from "vitest";
import { toldApart } from "./alike";

const group = (id: string, activityId: string, activityNodeId: string, cause = "it is busy") => ({
  id,
  activityId,
  activityNodeId,
  cause,
  code: "Faulted",
  definitionId: "hot",
  activityType: "Elsa.RunJavaScript",
});

it("groups that look the same have the ids of their activities", () => {
  const told = toldApart([
    group("1", "busy", "w:busy"),
    group("2", "6d3f2a9b8c7e", "w:6d3f2a9b8c7e"),
    group("3", "x", "w:x", "of its own"),
  ]);
  expect([...told]).toEqual([
    ["1", "busy"],
    ["2", "6d3f2a9b8c7e"],
  ]);
});

it("groups of one id have their places, from where these differ", () => {
  const told = toldApart([group("1", "busy", "w:f:one:busy"), group("2", "busy", "w:f:two:busy")]);
  expect([...told.values()]).toEqual(["one:busy", "two:busy"]);
  const within = toldApart([group("1", "busy", "w:busy"), group("2", "busy", "w:busy:again:busy")]);
  expect(new Set(within.values()).size).toBe(2);
});
