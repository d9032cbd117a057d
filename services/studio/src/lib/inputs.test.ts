import { describe, expect, it } from "vitest";
import { editorOf, readInput } from "./inputs";

describe("the form of an input", () => {
  it.each([
    ["Decimal", false, "number"],
    ["System.Int32, System.Private.CoreLib", false, "number"],
    ["Boolean", false, "switch"],
    ["String", false, "text"],
    ["String", true, "json"],
    ["Object", false, "json"],
    [undefined, false, "json"],
  ] as const)("for %s (list: %s) is %s", (type, isArray, editor) =>
    expect(editorOf(type, isArray)).toBe(editor),
  );

  it("reads what was typed, and says what is wrong", () => {
    expect(readInput("number", "12.5")).toEqual({ value: 12.5 });
    expect(readInput("number", "twelve").error).toBeTruthy();
    expect(readInput("switch", "false")).toEqual({ value: false });
    expect(readInput("json", "[1]")).toEqual({ value: [1] });
    expect(readInput("json", "[1").error).toBeTruthy();
    expect(readInput("text", "")).toEqual({});
    expect(readInput("number", " ")).toEqual({});
  });
});
