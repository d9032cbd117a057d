import type { InputType } from "./descriptors";
import { baseType, isNumeric, type LiteralFault, literalFault, literalOf, literalText } from "./expressions";
import { isMembers, type Json, type Members, membersOf, NotJson, namesOf, objectOf, readText } from "./json";

/** A key and its value, as a person types them. */
export interface Row {
  key: string;
  text: string;
  /** The text is JSON; only where values may have any type. */
  isJson: boolean;
}

const DICTIONARIES = /^(ObjectDictionary|StringDictionary|I?(ReadOnly)?Dictionary<.*>)$/;

/** Whether the values of an input are objects whose keys are chosen freely. */
export const isDictionary = (input: Pick<InputType, "typeName" | "uiHint">): boolean =>
  input.uiHint === "dictionary" || DICTIONARIES.test(baseType(input.typeName));

/** The type that each value of a dictionary has; `Object` where it may be any. */
export function valueTypeOf(input: Pick<InputType, "typeName" | "uiSpecifications">): string {
  const settings = membersOf(membersOf(input.uiSpecifications)?.dictionary);
  if (typeof settings?.valueType === "string") return settings.valueType;
  return baseType(input.typeName) === "StringDictionary" ? "String" : "Object";
}

/** The object that a value is or, as JSON, has in its text; nothing if it is another value. */
export function dictionaryOf(value: Json | undefined): Members | undefined {
  if (value === undefined || value === null || value === "") return {};
  if (isMembers(value)) return value;
  if (typeof value !== "string") return undefined;
  if (value.trim() === "") return {};
  try {
    return membersOf(readText(value));
  } catch (error) {
    if (error instanceof NotJson) return undefined;
    throw error;
  }
}

/** The rows of an object. A text is shown as it is, any other value of a free type as JSON. */
export const rowsOf = (held: Members, valueType: string): Row[] =>
  namesOf(held).map((key) => {
    const value = held[key] ?? null;
    const isJson = typeof value !== "string" && valueType === "Object";
    return { key, text: isJson && value === null ? "null" : literalText(value), isJson };
  });

/** The keys that more than one row has. */
export function doubleKeys(rows: readonly Row[]): Set<string> {
  const keys = rows.map((row) => row.key);
  return new Set(keys.filter((key, at) => keys.indexOf(key) !== at));
}

/** Whether the text of a row is to be JSON and is none. */
export function isNotJson({ text, isJson }: Row): boolean {
  if (!isJson) return false;
  try {
    readText(text);
    return false;
  } catch (error) {
    if (error instanceof NotJson) return true;
    throw error;
  }
}

/** The value of a row. What is no value of the type stays as the text that was typed, and is a problem. */
export function heldBy(row: Row, valueType: string): Json {
  const { text } = row;
  if (row.isJson) return isNotJson(row) ? text : readText(text);
  if (valueType === "Boolean") return text === "true" || (text === "false" ? false : text);
  if (isNumeric(valueType)) return literalOf(text, { typeName: valueType }, undefined) ?? "";
  return text;
}

/** The object that rows make. Of the rows with one key the first counts; a row without a key and a text is none yet. */
export function objectOfRows(rows: readonly Row[], valueType: string): Members {
  const values = new Map<string, Json>();
  for (const row of rows) {
    const isBlank = row.key === "" && (row.text === "" || valueType === "Boolean");
    if (!isBlank && !values.has(row.key)) values.set(row.key, heldBy(row, valueType));
  }
  return objectOf([...values]);
}

export interface ValueFault {
  key: string;
  value: string;
  fault: LiteralFault;
}

/** The first value of a dictionary that does not have the type of its values. */
export function dictionaryFault(value: Json | undefined, valueType: string): ValueFault | undefined {
  const held = dictionaryOf(value) ?? {};
  for (const key of namesOf(held)) {
    const one = held[key];
    const needsOne = valueType === "Boolean" || isNumeric(valueType);
    const fault = one === "" && needsOne ? "number" : literalFault(one, valueType);
    if (fault) return { key, value: literalText(one), fault };
  }
  return undefined;
}
