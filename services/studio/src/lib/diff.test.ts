import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffLines, nearChanges } from "./diff";

const text = fc
  .array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 12 })
  .map((lines) => lines.join("\n"));

describe("diffLines", () => {
  it("has both texts in it, in order", () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diffLines(before, after);
        const side = (not: string) =>
          lines
            .filter((line) => line.side !== not)
            .map((line) => line.text)
            .join("\n");
        expect(side("after")).toBe(before);
        expect(side("before")).toBe(after);
      }),
    );
  });

  it("keeps what is the same", () => {
    expect(diffLines("a\nb\nc", "a\nx\nc").map(({ side, text: line }) => `${side} ${line}`)).toEqual([
      "both a",
      "before b",
      "after x",
      "both c",
    ]);
  });
});

it("leaves out what is far from a change", () => {
  const lines = diffLines("1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\n3\n4\n5\n6\n7\n8\nnine");
  expect(nearChanges(lines, 1).map((line) => line?.text)).toEqual([undefined, "8", "9", "nine"]);
  expect(nearChanges(diffLines("a", "a"))).toEqual([undefined]);
});
