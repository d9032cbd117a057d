import { expect, it } from "vitest";
import { t } from "../text";
import { readObject } from "./json";

it("reads an object that somebody typed, and drops no other value without a word", () => {
  expect(readObject('{"Amount": -4}')).toEqual({ ok: true, value: { Amount: -4 } });
  expect(readObject(" \n")).toEqual({ ok: true, value: undefined });
  for (const text of ["[7]", "7", '"seven"', "null", "true"])
    expect(readObject(text), text).toEqual({ ok: false, error: t.notObject });
  expect(readObject("{")).toMatchObject({ ok: false, error: expect.stringContaining("JSON") });
});
