import { expect, it } from "vitest";
import { askedOf, namesOf } from "./asking";

const NOW = Date.parse("2026-11-25T12:00:00Z");

it("what an address filters the audit log by is asked for, with times of the server", () => {
  const { asked, wrong } = askedOf(
    { what: "login", from: "2h", until: "2026-11-25", outcome: "refused" },
    NOW,
  );
  expect(asked).toEqual({
    what: "login",
    target: undefined,
    from: "2026-11-25T10:00:00.000Z",
    until: "2026-11-25T00:00:00.000Z",
    outcome: "refused",
  });
  expect(wrong).toEqual([]);
});

it("a time or an outcome that there is not is named, and nothing else", () => {
  const { asked, wrong } = askedOf(
    { who: "ada", from: "yesterday", until: "", outcome: "odd", page: "2" },
    NOW,
  );
  expect(wrong).toEqual(["from", "outcome"]);
  expect(asked).toMatchObject({ from: undefined, outcome: undefined });
});

it("what was accepted, with an end that is not known, is asked for too", () => {
  expect(askedOf({ outcome: "accepted" }, NOW)).toMatchObject({ asked: { outcome: "accepted" }, wrong: [] });
});

it("a name without its kind may be that of a user, an application or of somebody from outside", () => {
  expect(namesOf("alice")).toEqual(["alice", "user:alice", "app:alice", "oidc:alice"]);
  expect(namesOf("user:alice")).toEqual(["user:alice"]);
  expect(namesOf("")).toEqual([undefined]);
});
