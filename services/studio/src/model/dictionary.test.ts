import { describe, expect, test } from "vitest";
import {
  dictionaryFault,
  dictionaryOf,
  doubleKeys,
  isDictionary,
  isNotJson,
  objectOfRows,
  rowsOf,
  valueTypeOf,
} from "./dictionary";
import { readText, writeText } from "./json";

const compact = (text: string, valueType: string) =>
  writeText(objectOfRows(rowsOf(dictionaryOf(text) ?? {}, valueType), valueType), "");

describe("which inputs are dictionaries", () => {
  test("by the hint or by the type", () => {
    expect(isDictionary({ typeName: "ObjectDictionary", uiHint: "json-editor" })).toBe(true);
    expect(isDictionary({ typeName: "Object", uiHint: "dictionary" })).toBe(true);
    expect(isDictionary({ typeName: "IDictionary<String, Object>", uiHint: "singleline" })).toBe(true);
    expect(isDictionary({ typeName: "ObjectDictionary[]", uiHint: "json-editor" })).toBe(false);
    expect(isDictionary({ typeName: "Object", uiHint: "json-editor" })).toBe(false);
  });

  test("the descriptor names the type of the values", () => {
    const of = (typeName: string, uiSpecifications: unknown) => valueTypeOf({ typeName, uiSpecifications });
    expect(of("ObjectDictionary", { dictionary: { valueType: "Int64" } })).toBe("Int64");
    expect(of("StringDictionary", {})).toBe("String");
    expect(of("ObjectDictionary", null)).toBe("Object");
  });
});

describe("rows", () => {
  test("make the object that they were made of", () => {
    const text = '{"b":"text","2":1.50,"a":[1,{"c":null}],"n":null,"t":true}';
    expect(compact(text, "Object")).toBe(text);
    expect(compact('{"a":"5"}', "Object")).toBe('{"a":"5"}');
    expect(compact('{"a":"5"}', "String")).toBe('{"a":"5"}');
    expect(compact('{"a":5,"b":-1.5}', "Double")).toBe('{"a":5,"b":-1.5}');
    expect(compact('{"a":false,"b":true}', "Boolean")).toBe('{"a":false,"b":true}');
  });

  test("a text that is no object has none", () => {
    expect(dictionaryOf("[1]")).toBeUndefined();
    expect(dictionaryOf("{bad")).toBeUndefined();
    expect(dictionaryOf(["x"])).toBeUndefined();
    expect(dictionaryOf("")).toEqual({});
    expect(dictionaryOf(undefined)).toEqual({});
  });

  test("of two with one key the first counts, and the key is named", () => {
    const rows = ["one", "two"].map((text) => ({ key: "a", text, isJson: false }));
    expect([...doubleKeys(rows)]).toEqual(["a"]);
    expect(objectOfRows(rows, "String")).toEqual({ a: "one" });
    expect(objectOfRows([{ key: "", text: "", isJson: false }], "String")).toEqual({});
  });

  test("what is typed and has another type stays, and is a problem", () => {
    const held = objectOfRows([{ key: "weight", text: "heavy", isJson: false }], "Double");
    expect(held).toEqual({ weight: "heavy" });
    expect(dictionaryFault(held, "Double")).toEqual({ key: "weight", value: "heavy", fault: "number" });
    expect(dictionaryFault({ on: "yes" }, "Boolean")?.fault).toBe("boolean");
    expect(dictionaryFault(readText('{"a":1,"b":2.5}'), "Int64")?.key).toBe("b");
    expect(dictionaryFault('{"a":1}', "Int64")).toBeUndefined();
    expect(dictionaryFault({ a: "x", b: 1 }, "Object")).toBeUndefined();
  });

  test("JSON that cannot be read is kept as it was typed", () => {
    const row = { key: "a", text: "{bad", isJson: true };
    expect(objectOfRows([row], "Object")).toEqual({ a: "{bad" });
    expect([isNotJson(row), isNotJson({ ...row, text: '"x"' })]).toEqual([true, false]);
  });
});
