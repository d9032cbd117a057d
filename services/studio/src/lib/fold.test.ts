import { expect, test } from "vitest";
import { fold } from "./fold";

const shown = (text: string) =>
  fold([...text], (sign) => sign)
    .map((part) => ("item" in part ? part.item : `${part.rounds}×${part.round.join("")}`))
    .join(" ");

test("what comes again three times or more is one part", () => {
  expect(shown("sabababe")).toBe("s 3×ab e");
  expect(shown("aaaa")).toBe("4×a");
  expect(shown("abab")).toBe("a b a b");
  expect(shown("")).toBe("");
});

test("the longest series counts, not the shortest round", () => {
  expect(shown("aabaabaabx")).toBe("3×aab x");
  expect(shown("saaabbbe")).toBe("s 3×a 3×b e");
});

test("a round that was begun and not ended stays beside it", () => {
  expect(shown("abcabcabcab")).toBe("3×abc a b");
});

test("no item is lost, and the order stays", () => {
  const items = [..."xababababyyyyzxababab"];
  const all = fold(items, (sign) => sign).flatMap((part) => ("item" in part ? [part.item] : part.items));
  expect(all).toEqual(items);
});

test("sixty rounds of a loop are two lines", () => {
  const line = (round: number) => [`${round}:start`, `${round}:check`, `${round}:end`];
  const lines = ["0:begin", ...Array.from({ length: 60 }, (_, round) => line(round)).flat()];
  const parts = fold(lines, (one) => one.split(":")[1] ?? "");
  expect(parts.length).toBe(2);
});
