import { describe, expect, it } from "vitest";
import { sparkPath, sparkSums } from "./spark";

describe("a spark line", () => {
  it("goes through every part, from the foot to the highest one", () => {
    expect(sparkPath([0, 5, 10, 5], 60, 16)).toBe("M0 16L20 8L40 0L60 8");
  });

  it("lies at the foot where nothing happened", () => {
    expect(sparkPath([0, 0, 0], 60, 16)).toBe("M0 16L30 16L60 16");
  });

  it("is a line where there is one part, and nothing where there is none", () => {
    expect(sparkPath([4], 60, 16)).toBe("M0 0H60");
    expect(sparkPath([], 60, 16)).toBe("");
  });

  it("has only numbers, whatever it is given", () => {
    const odd = sparkPath([1, 2, 3, 5, 8, 13, 21], 77, 15);
    expect(odd).toMatch(/^M[\d.]+ [\d.]+(L[\d.]+ [\d.]+){6}$/);
  });

  it("is said in numbers for those who do not see it", () => {
    expect(sparkSums([0, 5, 10, 5])).toEqual({ total: 20, most: 10 });
    expect(sparkSums([])).toEqual({ total: 0, most: 0 });
  });
});
