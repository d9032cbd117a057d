import { describe, expect, it } from "vitest";
import type { Api } from "../../api/types";
import { curl, staunch } from "../../lib/shell";
import { documentOf, linesOf } from "./lines";
import { countedOf, isUntaken, type Pool, readLabel, type Type } from "./queries";

const charge: Type = {
  type: "Acme.ChargeCard",
  version: 2,
  mode: "task",
  key: "Acme=2EChargeCard.2",
  taskSubject: "staunch.task.Acme=2EChargeCard.2",
  resultSubject: "staunch.cmd.task.Acme=2EChargeCard.2.{taskId}",
  stream: "STAUNCH_TASKS",
  consumer: "task-Acme=2EChargeCard-2",
  timeout: "1h",
  icon: null,
};

it("knows the tasks that nobody takes", () => {
  const pool = { waiting: 2, inProgress: 0, asking: 0 } as Pool;
  expect(isUntaken(countedOf(pool))).toBe(true);
  for (const other of [{ waiting: 0 }, { inProgress: 1 }, { asking: 1 }])
    expect(isUntaken(countedOf({ ...pool, ...other }))).toBe(false);
});

describe("messages of tasks that are done", () => {
  const pool = { waiting: 6, inProgress: 0, asking: 0, oldest: "a", oldestWaiting: "a" } as Pool;
  const open = (totalCount: number, isCutShort = false) =>
    ({
      totalCount,
      isCutShort,
      items: totalCount > 0 ? [{ since: "b" }] : [],
    }) as unknown as Api["OpenTasks"];

  it("wait in the stream, and are no tasks that wait", () => {
    const counted = countedOf(pool, open(5));
    expect(counted).toMatchObject({ waiting: 5, done: 1, oldest: "b", oldestWaiting: "b" });
    expect(isUntaken(counted)).toBe(true);
    // Nobody has to take what is all done.
    expect(countedOf(pool, open(0))).toMatchObject({ waiting: 0, done: 6, oldest: null });
    expect(isUntaken(countedOf(pool, open(0)))).toBe(false);
  });

  it("are told only where all that wait were counted", () => {
    for (const known of [undefined, open(5, true), open(6), open(9)])
      expect(countedOf(pool, known)).toMatchObject({ waiting: 6, done: 0, oldest: "a" });
  });

  it("say nothing before it is known", () => {
    expect(isUntaken(countedOf(pool, undefined, true))).toBe(false);
  });
});

describe("lines of workers", () => {
  it("reads a label as it was written", () => {
    expect(readLabel("Acme@Home@12")).toEqual({ type: "Acme@Home", version: 12 });
    for (const wrong of ["Ship", "Ship@", "@1", "Ship@x", ""]) expect(readLabel(wrong)).toBeUndefined();
  });

  it("names the consumer of a pool, and the key of a registered type", () => {
    const pool = { taskType: "Ship", version: 1, consumer: "task-Ship-1" } as Pool;
    expect(linesOf("Ship", 1, pool).nats).toEqual(["nats consumer info STAUNCH_TASKS task-Ship-1"]);
    expect(linesOf("Ship", 1, pool).staunch).not.toContain(staunch("worker rm Ship 1"));
    expect(linesOf("Ship", 1, pool).curl).toEqual([curl("/tasks?type=Ship&version=1"), curl("/tasks/pools")]);
    expect(linesOf(charge.type, 2, undefined, charge).staunch).toEqual([
      staunch("task ls --type Acme.ChargeCard@2"),
      "staunch worker creds Acme.ChargeCard@2",
      staunch("worker types"),
      staunch("worker rm Acme.ChargeCard 2"),
    ]);
    expect(linesOf(charge.type, 2, undefined, charge).nats).toContain(
      "nats kv get staunch_activities Acme=2EChargeCard.2",
    );
  });

  it("registers again what was registered, and nothing else", () => {
    expect(documentOf(charge)).toEqual({ type: charge.type, version: 2, mode: "task", timeout: "1h" });
  });
});
