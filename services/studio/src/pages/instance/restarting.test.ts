import { expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null });
const { restartLines } = await import("./restarting");

it("the lines of a restart begin where the dialog does, with the values that are typed in it", () => {
  const plain = restartLines("i-1", "", { variables: "" });
  expect(plain.staunch).toMatch(/^staunch instance restart i-1( --server \S+)?$/);
  expect(plain.curl).toContain("-d '{}'");
  expect(plain.nats).toBe("nats req staunch.api.http.post.workflow-instances.i-1.restart '{}'");
  const variables = '{\n  "Qty": 5\n}';
  expect(restartLines("i-1", "check", { variables }).staunch).toContain(
    `--from check --variables '{"Qty":5}'`,
  );
  const { staunch, curl } = restartLines("i-1", "check", { input: '{"Order": 7}', variables });
  expect(staunch).toBeNull();
  expect(curl).toContain(`'{"activityId":"check","input":{"Order":7},"variables":{"Qty":5}}'`);
  expect(restartLines("i-1", "", { input: "{}", variables: "" }).curl).toContain(`-d '{"input":{}}'`);
  // What cannot be read is in no line.
  expect(restartLines("i-1", "", { variables: "5" }).curl).toContain("-d '{}'");
});
