import { describe, expect, it } from "vitest";
import type { Api } from "../../api/types";
import { fromAddress } from "../../lib/filters";
import { endOf, forget, learn, PART, placeOf, startTrail, TOTAL_MAX } from "./trail";

const page = (length: number, nextCursor: string | null, totalCount = 1000): Api["InstancePage"] => ({
  items: Array.from({ length }, () => ({}) as Api["InstanceSummary"]),
  totalCount,
  nextCursor,
});

describe("the trail of a list", () => {
  it("knows where a part begins from the part before it, and from the address", () => {
    const trail = startTrail("", fromAddress({ page: "10000", cursor: "ten" }));
    learn(trail, [
      [0, page(PART, "one")],
      [10_000, page(PART, "more")],
      [3, undefined],
      [7, page(40, null)],
    ]);
    expect([...trail.cursors]).toEqual([
      [10_000, "ten"],
      [1, "one"],
      [10_001, "more"],
    ]);
  });

  it("names a part so that the address finds it and the one before it", () => {
    const trail = startTrail("", fromAddress({ page: "7", cursor: "seven", before: "six" }));
    expect(placeOf(trail, 7)).toEqual({ page: "7", cursor: "seven", before: "six" });
    learn(trail, [[7, page(PART, "eight")]]);
    expect(placeOf(trail, 8)).toEqual({ page: "8", cursor: "eight", before: "seven" });
    expect(placeOf(trail, 0)).toEqual({});
    expect(startTrail("", fromAddress(placeOf(trail, 8))).cursors.get(7)).toBe("seven");
    forget(trail, [0, 8, 7]);
    expect([...trail.cursors]).toEqual([[7, "seven"]]);
  });

  it("takes no cursor for the first part", () => {
    expect(startTrail("", fromAddress({ cursor: "lost" })).cursors.size).toBe(0);
  });

  it("goes as far as the server counts, and beyond its limit as far as one reads", () => {
    const trail = startTrail("", fromAddress({}));
    learn(trail, [[3, page(PART, "four")]]);
    expect(endOf(trail, 1000, 0)).toBe(1000);
    expect(endOf(trail, TOTAL_MAX, 0)).toBe(TOTAL_MAX);
    learn(trail, [[20_000, page(PART, "on")]]);
    expect(endOf(trail, TOTAL_MAX, 0)).toBe(20_002 * PART);
    learn(trail, [[20_001, page(7, null)]]);
    expect(endOf(trail, TOTAL_MAX, 30_000)).toBe(30_001 * PART);
  });
});
