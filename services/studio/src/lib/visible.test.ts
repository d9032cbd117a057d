import { expect, it } from "vitest";
import { visible } from "./visible";

it("shows what is hidden in a text, and what turns its direction", () => {
  expect(visible("\u202elive")).toBe("\\u202elive");
  expect(visible("a\u0000b\u0007\u200bc\u2066d\ufeff")).toBe("a\\u0000b\\u0007\\u200bc\\u2066d\\ufeff");
});

it("leaves other texts as they are: of more lines, of other directions, with signs of several parts", () => {
  for (const text of ["one\n\ttwo\r\n", "مرحبا", "שלום\u200f!", "👩‍👩‍👧", "Straße", ""])
    expect(visible(text)).toBe(text);
});
