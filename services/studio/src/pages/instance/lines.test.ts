import { expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null });
const { alterLines, cancelLines, deleteLines, retryLines, variableLines } = await import("./lines");

it("an instance is altered with each tool", () => {
  const { staunch, nats, curl } = alterLines("i-1", "instance migrate i-1 --to 2", {
    type: "Migrate",
    targetVersion: 2,
  });
  expect(staunch).toMatch(/^staunch instance migrate i-1 --to 2( --server \S+)?$/);
  expect(nats).toBe(
    `nats req staunch.api.alter.i-1 '{"alterations":[{"type":"Migrate","targetVersion":2}]}'`,
  );
  expect(curl).toContain("/workflow-instances/i-1/alter");
});

it("a retry is of all that failed, or of one activity", () => {
  expect(retryLines("i-1").nats).toBe(`nats req staunch.api.alter.i-1 '{"alterations":[{"type":"Retry"}]}'`);
  const one = retryLines("i-1", "charge");
  expect(one.staunch).toContain("instance retry i-1 --activity charge");
  expect(one.nats).toContain(`{"type":"Retry","activityIds":["charge"]}`);
  expect(one.curl).toContain(`'{"workflowInstanceIds":["i-1"],"activityIds":["charge"]}'`);
});

it("a cancellation has its reason, and a removal its one instance", () => {
  expect(cancelLines("i-1", "").staunch).toMatch(/^staunch instance cancel i-1( --server \S+)?$/);
  expect(cancelLines("i-1", "too late").staunch).toContain("--reason 'too late'");
  expect(cancelLines("i-1", "too late").nats).toContain(`'{"reason":"too late"}'`);
  expect(deleteLines("i-1").staunch).toContain(`--filter '{"workflowInstanceIds":["i-1"]}'`);
  expect(deleteLines("i-1").nats).toBe("nats req staunch.api.http.delete.workflow-instances.i-1 ''");
});

it("a variable gets its value as JSON, by its name or where that is no word for a line by its id", () => {
  const { staunch, nats, curl } = variableLines("i-1", { id: "v1", name: "total" }, { a: "b c" });
  expect(staunch).toMatch(/^staunch instance set i-1 'total=\{"a":"b c"\}'/);
  expect(nats).toBe(
    `nats req staunch.api.http.post.workflow-instances.i-1.variables '{"variables":[{"id":"v1","value":{"a":"b c"}}]}'`,
  );
  expect(curl).toContain("/workflow-instances/i-1/variables");
  // One that a short form declares has no id.
  expect(variableLines("i-1", { id: "", name: "total" }, 1).curl).toContain(`[{"id":"total","value":1}]`);
  expect(variableLines("i-1", { id: "v1", name: "a=b" }, 1).staunch).toContain("set i-1 v1=1");
});
