import { expect, test } from "vitest";
import type { InputType } from "../../../model/descriptors";
import { itemsOf } from "../../../model/expressions";
import { kindOf, plainLanguage } from "./kinds";

const input = (typeName: string, uiHint: string): InputType => ({
  name: "Meta",
  typeName,
  displayName: "Meta",
  order: 0,
  isBrowsable: true,
  isReadOnly: false,
  isSensitive: false,
  isWrapped: true,
  uiHint,
  uiSpecifications: {},
  defaultSyntax: "Literal",
});

test("an object has the editor of dictionaries, whether the server names it or not", () => {
  expect(kindOf(input("ObjectDictionary", "json-editor"))).toBe("dictionary");
  expect(kindOf(input("ObjectDictionary", "singleline"))).toBe("dictionary");
  expect(kindOf(input("Object", "dictionary"))).toBe("dictionary");
  expect(plainLanguage(input("ObjectDictionary", "singleline"))).toBe("Object");
});

test("other inputs keep theirs", () => {
  expect(kindOf(input("Object", "json-editor"))).toBe("json");
  expect(kindOf(input("String", "singleline"))).toBe("text");
  expect(kindOf(input("String[]", "multitext"))).toBe("list");
  expect(kindOf(input("ObjectDictionary[]", "json-editor"))).toBe("json");
  expect(kindOf(input("ObjectDictionary[]", "singleline"))).toBe("json");
});

test("what is typed in a list of numbers is a number, as soon as it reads as one", () => {
  const codes = { ...input("Object[]", "multitext"), defaultValue: [200] };
  expect(itemsOf(["404", "4x", ""], codes)).toEqual([404, "4x", ""]);
  expect(itemsOf(["404", "007"], input("Int32[]", "multitext"))).toEqual([404, "007"]);
  expect(itemsOf(["404"], input("String[]", "multitext"))).toEqual(["404"]);
});
