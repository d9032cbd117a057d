import { expect, it } from "vitest";
import type { Api } from "../../api/types";
import { outcomeOf } from "./retrying";

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
