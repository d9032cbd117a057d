import { expect, it } from "vitest";
import { Problem } from "../api/problem";
import { t } from "../text";
import { flawsIn, flawsOf } from "./password";

const entered = { current: "correct horse", next: "another horse", repeated: "another horse" };

it("wants the new password twice", () => {
  expect(flawsIn(entered)).toBeUndefined();
  expect(flawsIn({ ...entered, repeated: "another horsf" })).toEqual({ repeated: t.me.notRepeated });
});

it("says a refusal at the field that it is about, and any other not at a field", () => {
  const refusal = (status: number, detail: string) => new Problem(status, "", detail, "");
  expect(flawsOf(refusal(403, "The name or the password until now is wrong."))).toEqual({
    current: t.me.wrongPassword,
  });
  const short = "The password has fewer than 12 characters: use a longer one.";
  expect(flawsOf(refusal(400, short))).toEqual({ next: short });
  expect(flawsOf(refusal(429, "Too many failed logins."))).toBeUndefined();
  expect(flawsOf(new Error("lost"))).toBeUndefined();
});
