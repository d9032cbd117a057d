import { expect, it } from "vitest";
import { sameIds } from "./importing";

const file = (name: string, content: unknown) =>
  new File([typeof content === "string" ? content : JSON.stringify(content)], name);

it("names both files that have the same id", async () => {
  const files = [
    file("a.json", { definitionId: "order" }),
    file("broken.json", "{"),
    file("list.json", []),
    file("b.json", { DefinitionId: "bill" }),
    file("copy.json", { definitionId: "order" }),
    file("new-1.json", {}),
    file("new-2.json", {}),
  ];
  expect(await sameIds(files)).toEqual(["copy.json: a.json has the same id, order."]);
});
