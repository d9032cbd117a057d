import { expect, it } from "vitest";
import { canSignIn, isSignInNeeded, personNamed, readWays } from "./ways";

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

it("offers no login where nobody has to sign in", () => {
  expect(canSignIn(["key"])).toBe(true);
  expect(canSignIn([])).toBe(false);
});

it("names no caller who is everybody", () => {
  expect(personNamed("user:alice")).toBe("alice");
  expect(personNamed("app:ci")).toBe("app:ci");
  expect(personNamed("local")).toBeUndefined();
});
