import { expect, test } from "vitest";
import { square } from "./size";

test("a drawing has its size in the unit of what is around it, and not in pixels", () => {
  expect(square(16)).toEqual({ width: "calc(var(--spacing) * 4)", height: "calc(var(--spacing) * 4)" });
  expect(square(14).width).toBe("calc(var(--spacing) * 3.5)");
});
