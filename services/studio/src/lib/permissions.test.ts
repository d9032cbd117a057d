import { describe, expect, it } from "vitest";
import { areaOf, givable, grouped, idOf, isOther, matrixOf, wrongIn } from "./permissions";

const KNOWN = ["read:workflow-instances", "write:secrets", "read:secrets", "ManageWorkflowRuntime"];

describe("permissions", () => {
  it.each([
    ["*", "all"],
    ["read:*", "all"],
    ["actions:workflow-definitions:reload", "definitions"],
    ["replay:bookmark-queue:dead-letters", "messages"],
    ["tasks:poll", "tasks"],
    ["ManageWorkflowRuntime", "cluster"],
    ["read:variable-descriptors", "catalog"],
  ])("%s is for %s", (permission, area) => expect(areaOf(permission)).toBe(area));

  it("can be given as one has them: all of a verb only by who has all of it", () => {
    expect(givable(KNOWN, ["*"])).toEqual(["*", "read:*", "write:*", ...KNOWN]);
    expect(givable(["read:secrets"], ["read:*", "write:secrets"])).toEqual(["read:*", "read:secrets"]);
    expect(givable(["read:secrets"], ["read:secrets"])).toEqual(["read:secrets"]);
  });

  it("stand by what they are for, and what nobody knows stands last", () => {
    expect(grouped(KNOWN, ["approve:orders", "read:secrets"], "")).toEqual([
      ["instances", ["read:workflow-instances"]],
      ["secrets", ["read:secrets", "write:secrets"]],
      ["cluster", ["ManageWorkflowRuntime"]],
      ["other", ["approve:orders"]],
    ]);
    expect(grouped(KNOWN, [], "SECR")).toEqual([["secrets", ["read:secrets", "write:secrets"]]]);
  });

  it("may be the policy of an endpoint, which is one word", () => {
    expect(isOther("approve:orders", KNOWN)).toBe(true);
    expect(isOther("read:secrets", KNOWN)).toBe(false);
    expect(isOther("two words", KNOWN)).toBe(false);
    expect(isOther("", KNOWN)).toBe(false);
  });

  it("that the server refuses are named, without all the others", () => {
    const detail =
      'Permission "read:\\"it": there is no such permission; use * for all, or read:audit, read:nodes.';
    expect(wrongIn(detail)).toEqual(['read:"it']);
    expect(wrongIn("A key has 1 to 100 permissions.")).toEqual([]);
  });
});

it.each([
  ["Order Clerk", "order-clerk"],
  [" a--b ", "a-b"],
  ["É", ""],
])("the role %j has the id %j where none is given", (name, id) => expect(idOf(name)).toBe(id));

it("what roles may do is counted by area, with all of a verb and with everything", () => {
  const roles = [["*"], ["read:*"], ["write:secrets", "approve:orders"], []];
  expect(matrixOf(roles, KNOWN)).toEqual([
    [
      "instances",
      [
        { has: ["read:workflow-instances"], of: 1 },
        { has: ["read:workflow-instances"], of: 1 },
        { has: [], of: 1 },
        { has: [], of: 1 },
      ],
    ],
    [
      "secrets",
      [
        { has: ["read:secrets", "write:secrets"], of: 2 },
        { has: ["read:secrets"], of: 2 },
        { has: ["write:secrets"], of: 2 },
        { has: [], of: 2 },
      ],
    ],
    [
      "cluster",
      [
        { has: ["ManageWorkflowRuntime"], of: 1 },
        { has: [], of: 1 },
        { has: [], of: 1 },
        { has: [], of: 1 },
      ],
    ],
    [
      "other",
      [
        { has: ["approve:orders"], of: 1 },
        { has: [], of: 1 },
        { has: ["approve:orders"], of: 1 },
        { has: [], of: 1 },
      ],
    ],
  ]);
});
