import { expect, it } from "vitest";
import { draftOf, typeNameOf } from "./drafts";

const row = (definitionId: string, name: string | null, isPublished = false) => ({
  definitionId,
  name,
  isPublished,
});

it("calls a workflow as the server calls its type", () => {
  expect(typeNameOf(row("sum", "add two numbers"))).toBe("AddTwoNumbers");
  expect(typeNameOf(row("my-sum.2", null))).toBe("MySum2");
  expect(typeNameOf(row("s", "Größe über alles"))).toBe("GrößeÜberAlles");
});

it("finds the draft that an unknown type would be", () => {
  const rows = [row("a", "Sum", true), row("b", "Sum"), row("c", "Other")];
  expect(draftOf(rows, "Sum")?.definitionId).toBe("b");
  expect(draftOf(rows, "Product")).toBeUndefined();
});
