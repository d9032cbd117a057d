import { expect, it } from "vitest";
import { Problem } from "../../api/problem";
import { expandAll, sameIds } from "./importing";

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

it("sends YAML as what it means, and refuses it with the names of the files", async () => {
  const expand = async (one: File) => {
    const text = await one.text();
    if (text === "lost") throw new Problem(503, "", "Not now.", "");
    if (text === "bad") throw new Problem(400, "", "Line 3, column 5: no type Writ.", "");
    if (text === "big") throw new Problem(413, "", "It is too large.", "");
    return file(one.name, { definitionId: text });
  };
  const good = await expandAll([file("a.json", { definitionId: "hello" }), file("b.YML", "hello")], expand);
  expect(good.wrong).toEqual([]);
  expect(await sameIds(good.files)).toEqual(["b.YML: a.json has the same id, hello."]);
  const bad = await expandAll([file("c.yaml", "bad"), file("d.yml", "big"), file("e.yaml", "fine")], expand);
  expect(bad.wrong).toEqual(["c.yaml: Line 3, column 5: no type Writ.", "d.yml: It is too large."]);
  await expect(expandAll([file("f.yaml", "lost")], expand)).rejects.toThrow("Not now.");
});
