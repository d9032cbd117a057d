import { expect, test } from "vitest";
import type { InputType } from "../../../model/descriptors";
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
