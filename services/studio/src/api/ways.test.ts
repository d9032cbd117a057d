import { expect, it } from "vitest";
import { isSignInNeeded, readWays } from "./ways";

it("knows the ways to sign in that the page has", () => {
  expect(readWays("user key")).toEqual(["user", "key"]);
  expect(readWays("token else")).toEqual(["token"]);
  expect(readWays("")).toEqual([]);
  expect(readWays(undefined)).toBeUndefined();
  expect(readWays(null)).toBeUndefined();
});

it("knows whether a request without credentials is worth sending", () => {
  expect(isSignInNeeded(["key"])).toBe(true);
  expect(isSignInNeeded([])).toBe(false);
});
