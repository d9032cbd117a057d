import { expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null });
const { allows, permissionsOf } = await import("./session");

const token = (claims: unknown) =>
  `h.${btoa(JSON.stringify(claims)).replaceAll("+", "-").replaceAll("/", "_")}.s`;
const user = (claims: unknown) => ({
  kind: "user" as const,
  name: "ada",
  access: token(claims),
  refresh: "",
});

it("reads permissions from a token: one, several, or none that is known", () => {
  expect(permissionsOf(user({ permissions: "read:nodes" }))).toEqual(["read:nodes"]);
  expect(permissionsOf(user({ permissions: ["a", "b"] }))).toEqual(["a", "b"]);
  expect(permissionsOf(user({}))).toBeUndefined();
  expect(permissionsOf({ kind: "key", key: "k" })).toBeUndefined();
});

it("offers what is granted, and everything where nothing is known", () => {
  expect(allows(["read:nodes"], "read:nodes")).toBe(true);
  expect(allows(["read:nodes"], "write:secrets")).toBe(false);
  expect(allows(["*"], "write:secrets")).toBe(true);
  expect(allows(undefined, "write:secrets")).toBe(true);
});
