import { expect, it } from "vitest";
import { turnOf } from "../../model/layout";
import { leadOf, lowest, nameOn } from "./wires";

const flat = { sourceX: 200, sourceY: 28, targetX: 272, targetY: 28 };

it("names of transitions stand above the line, and above the cards if they are longer than it", () => {
  const middle = { x: 236, y: 28 };
  expect(nameOn("Pay", flat, middle)).toEqual({ text: "Pay", at: { x: 236, y: 15 } });
  expect(nameOn("State1 to State2", flat, middle).at.y).toBeLessThan(0);
  const steep = { ...flat, targetY: 228 };
  expect(nameOn("State1 to State2", steep, { x: 236, y: 128 }).at).toEqual({ x: 236, y: 128 });
  const { text } = nameOn("A name that nobody would want to read", flat, middle);
  expect(text).toBe("A name that nobody would wa…");
});

it("lines that lead back at the same height go below the cards", () => {
  expect(lowest(flat)).toBe(100);
  expect(lowest({ ...flat, targetY: 228 })).toBeUndefined();
});

it("a line turns down past the names of the other outcomes", () => {
  expect(turnOf(["Done"])).toBe(24);
  // A name stands 8 pixels from the card, in letters of less than 6, with 3 around it.
  expect(turnOf(["True", "False"])).toBeGreaterThan(8 + 6 + 5 * 6);
  expect(turnOf(["A".repeat(200), "B"])).toBeLessThan(200);
});

it("a line that leads on is straight until it is past the names of the outcomes, and has room for its curve", () => {
  const turn = turnOf(["True", "False"]);
  const wide = { ...flat, targetX: 320, targetY: 140 };
  expect(leadOf(wide, turn)).toBe(turn);
  expect(leadOf(flat, turnOf(["Approved", "Rejected"]))).toBe(72 - 24);
  expect(leadOf({ ...flat, targetX: 210 }, turn)).toBe(0);
  expect(leadOf(wide, turnOf(["Done"]))).toBe(0);
});
