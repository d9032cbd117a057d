import { expect, it } from "vitest";
import { neededBy } from "./needs";

const API = "curl -X POST http://127.0.0.1:5001/elsa/api";

it.each([
  [`${API}/workflow-instances/6b1f/alter -d '{}'`, "run:alterations"],
  [`${API}/workflow-instances/6b1f/restart -d '{}'`, "run:alterations"],
  [`${API}/workflow-instances/6b1f/resume -d '{}'`, "write:workflow-instances"],
  [`${API}/cancel/workflow-instances/6b1f -d '{}'`, "cancel:workflow-instances"],
  [`${API}/events/paid/trigger -H 'Content-Type: application/json'`, "trigger:event"],
  [`${API}/tasks/7/complete -d '{}'`, "tasks:complete"],
  [`'${API}/admin/workflow-runtime/resume?node=n1'`, "ManageWorkflowRuntime"],
  [`${API}/bookmark-queue/dead-letters/7/replay`, "replay:bookmark-queue:dead-letters"],
  ["curl -X POST http://127.0.0.1:5001/workflows/orders", undefined],
])("%s needs %s", (curl, permission) =>
  expect(neededBy({ what: "do it", curl, staunch: "staunch why 6b1f" })).toBe(permission),
);

it("a line of staunch alone needs what its request would", () => {
  expect(neededBy({ what: "", staunch: "staunch instance set 6b1f Amount=1" })).toBe(
    "write:workflow-instances",
  );
  expect(neededBy({ what: "", staunch: "staunch why 6b1f" })).toBe("read:workflow-instances");
  expect(neededBy({ what: "", staunch: "staunch provision" })).toBeUndefined();
  expect(neededBy({ what: "", nats: "nats pub staunch.perform.6b1f '{}'" })).toBeUndefined();
});
