import { expect, it, vi } from "vitest";
import { linesOf, runtimeLines } from "./lines";

vi.stubGlobal("document", { querySelector: () => null });

it("an executor is paused, and one that is paused goes on", () => {
  for (const deed of ["pause", "resume"] as const) {
    const lines = linesOf({ node: "n 1", roles: ["executor", "timer"] }, deed);
    expect(lines.staunch).toMatch(new RegExp(`^staunch runtime ${deed} --node 'n 1'`));
    expect(lines.nats).toContain(
      `nats req staunch.api.http.post.admin.workflow-runtime.${deed} '{"node":"n 1"}'`,
    );
    expect(lines.curl).toContain(
      `curl -X POST -H "Content-Type: application/json" -d '{"node":"n 1"}' http://localhost/elsa/api/admin/workflow-runtime/${deed}`,
    );
  }
});

it("a node that executes nothing can only be looked at", () => {
  const lines = JSON.stringify(linesOf({ node: "n1", roles: ["ingress"] }, "pause"));
  expect(lines).toContain("staunch top");
  expect(lines).not.toContain("pause");
});

it("all nodes are paused, drained, and go on, with the reason that was said", () => {
  const paused = runtimeLines("pause", undefined, "new disks");
  expect(paused.staunch).toMatch(/^staunch runtime pause --reason 'new disks'/);
  expect(paused.nats).toBe(
    `nats req staunch.api.http.post.admin.workflow-runtime.pause '{"reason":"new disks"}'`,
  );
  expect(runtimeLines("resume").staunch).toMatch(/^staunch runtime resume( --server \S+)?$/);
  expect(runtimeLines("resume").curl).toContain("-d '{}' ");
  expect(runtimeLines("force-drain", "n1").staunch).toMatch(/^staunch runtime drain --node n1/);
  expect(runtimeLines("force-drain", "n1").curl).toContain("/admin/workflow-runtime/force-drain");
});
