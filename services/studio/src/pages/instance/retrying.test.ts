import { expect, it } from "vitest";
import type { Api } from "../../api/types";
import { againWords, outcomeOf, seenIn } from "./retrying";

const incident = (timestamp: string, message = "declined") => ({
  activityNodeId: "w:pay",
  timestamp,
  message,
});
const detail = (subStatus: string, ...incidents: object[]) =>
  ({ subStatus, workflowState: { incidents } }) as unknown as Api["InstanceDetail"];
const before = detail("Faulted", incident("1"));

it("says that a retry failed again where an incident is new", () => {
  const now = detail("Faulted", incident("2", "declined again"));
  expect(outcomeOf(before, now)).toEqual({ is: "failed", message: "declined again" });
  const beside = detail("Suspended", incident("1"), incident("2"));
  expect(outcomeOf(before, beside).is).toBe("failed");
});

it("says that it runs as long as nothing else is known", () => {
  expect(outcomeOf(before, before)).toEqual({ is: "running" });
  expect(outcomeOf(before, detail("Executing"))).toEqual({ is: "running" });
  expect(outcomeOf(before, detail("Suspended"))).toEqual({ is: "running" });
});

it("says that it is over where no incident is left", () =>
  expect(outcomeOf(before, detail("Finished"))).toEqual({ is: "over" }));

const summary = (id: string, subStatus: string, incidentCount: number) => ({ id, subStatus, incidentCount });

it("tells those that failed again from those that run or have ended", () => {
  const now = [summary("a", "Faulted", 1), summary("b", "Finished", 0), summary("c", "Suspended", 2)];
  expect(seenIn(now)).toEqual({ again: ["a", "c"], isRunning: false });
  expect(seenIn([summary("a", "Executing", 0)])).toEqual({ again: [], isRunning: true });
});

it("knows by the incidents from before what else is wrong where only one activity was retried", () => {
  const before = [summary("a", "Faulted", 2), summary("b", "Faulted", 2)];
  const now = [summary("a", "Faulted", 1), summary("b", "Faulted", 2)];
  expect(seenIn(now, before).again).toEqual(["b"]);
});

it("says how many failed again, and of how many that is known", () => {
  expect(againWords(1, 7)).toBe("1 has failed again.");
  expect(againWords(6, 7)).toBe("6 have failed again.");
  expect(againWords(6, 1200)).toBe("Of the first 1,000, 6 have failed again.");
});
