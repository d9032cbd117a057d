import { type InputType, memberOf } from "./descriptors";
import { Exact, isMembers, type Json, type Members, membersOf, textOf } from "./json";

/** The value of an input: an expression, or plain JSON where the input takes no expression. */
export interface InputValue {
  /** The language; `Literal` for plain JSON. */
  type: string;
  value: Json | undefined;
  isGiven: boolean;
}

export function readInput(
  activity: Members,
  input: Pick<InputType, "name" | "isWrapped"> & { defaultSyntax?: string },
): InputValue {
  const held = activity[memberOf(input.name)];
  if (held === undefined || held === null)
    return { type: input.defaultSyntax || "Literal", value: undefined, isGiven: false };
  if (!input.isWrapped) return { type: "Literal", value: held, isGiven: true };
  const expression = membersOf(membersOf(held)?.expression);
  if (expression)
    return { type: textOf(expression.type) || "Literal", value: expression.value, isGiven: true };
  if (isMembers(held) && "typeName" in held) return { type: "Literal", value: undefined, isGiven: true };
  return { type: "Literal", value: held, isGiven: true };
}

/** Writes a value in the form that the activity has already: other members stay as they are. */
export function writeInput(
  activity: Members,
  input: InputType,
  type: string,
  value: Json | undefined,
): Json | undefined {
  if (!input.isWrapped) return value;
  const held = membersOf(activity[memberOf(input.name)]);
  const expression: Members = { ...membersOf(held?.expression), type };
  if (value === undefined) delete expression.value;
  else expression.value = value;
  return held && "typeName" in held ? { ...held, expression } : { typeName: input.typeName, expression };
}

/** What a value of one language becomes in another, where that has a meaning. */
export function convert(value: Json | undefined, from: string, to: string): Json | undefined {
  if (from === to) return value;
  const isText = (type: string) => type !== "Variable" && type !== "Input" && type !== "Secret";
  if (!isText(from) || !isText(to) || value === undefined || value === null) return undefined;
  if (to === "JavaScript" && from === "Literal")
    return typeof value === "string" ? JSON.stringify(value) : JSON.stringify(value);
  if (from === "JavaScript" && to === "Literal") {
    try {
      return JSON.parse(textOf(value)) as Json;
    } catch {
      return textOf(value);
    }
  }
  if (to === "Literal") return value;
  return literalText(value);
}

/** A literal as a person types it. */
export function literalText(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (value instanceof Exact) return value.text;
  return typeof value === "object" ? JSON.stringify(value, null, 2) : String(value);
}

const WHOLE = new Set(["Int16", "Int32", "Int64", "Long", "Byte"]);
const FRACTION = new Set(["Single", "Double", "Decimal"]);

export const baseType = (typeName: string): string => typeName.replace(/\?$/, "");
export const isWhole = (typeName: string): boolean => WHOLE.has(baseType(typeName));
export const isNumeric = (typeName: string): boolean => isWhole(typeName) || FRACTION.has(baseType(typeName));
export const isList = (typeName: string): boolean =>
  /\[\]$/.test(typeName) || /^(List|ICollection|IList|IEnumerable)</.test(typeName);

/** A typed number is kept as a number; a text that was a text stays one. */
export function literalOf(
  text: string,
  input: Pick<InputType, "typeName">,
  was: Json | undefined,
): Json | undefined {
  if (text === "" && !/^String$/.test(baseType(input.typeName))) return undefined;
  if (!isNumeric(input.typeName) || typeof was === "string") return text;
  if (!/^-?(0|[1-9]\d*)(\.\d+)?$/.test(text)) return text;
  const value = Number(text);
  return String(value) === text ? value : new Exact(text);
}

/** The items of a list as they were typed: in a list of whole numbers, what reads as one is kept as one. */
export function itemsOf(items: readonly string[], input: InputType): Json[] {
  const { defaultValue: usual, typeName } = input;
  const item = baseType(typeName).replace(/^\w+<(.*)>$|^(.*)\[\]$/, "$1$2");
  const isOfNumbers = isWhole(item) || (Array.isArray(usual) && usual.some((one) => typeof one === "number"));
  if (!isOfNumbers) return [...items];
  return items.map((text) => (/^(0|-?[1-9]\d{0,9})$/.test(text) ? Number(text) : text));
}

const SPAN = /^-?(\d+\.)?\d{1,2}:\d{1,2}(:\d{1,2}(\.\d{1,7})?)?$/;
const ISO_SPAN = /^P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?$/;
/** `90s`, `1h 30m`, `2 days`: the server reads them too. */
const WORDED_SPAN =
  /^(\d+(\.\d+)?\s*(w|wks?|weeks?|d|days?|h|hrs?|hours?|m|mins?|minutes?|s|secs?|seconds?|ms|msecs?|millis|milliseconds?)[\s,]*)+$/;

/** Why a literal is no value of a type; nothing if it is one. */
export type LiteralFault = "number" | "whole" | "boolean" | "span" | "time" | "guid" | "status";

export function literalFault(value: Json | undefined, typeName: string): LiteralFault | undefined {
  if (value === undefined || value === null || value === "" || typeof value === "object") return undefined;
  const text = String(value).trim();
  const type = baseType(typeName);
  if (isWhole(type)) return /^-?\d+$/.test(text) ? undefined : "whole";
  if (FRACTION.has(type)) return text !== "" && Number.isFinite(Number(text)) ? undefined : "number";
  if (type === "Boolean") return /^(true|false)$/i.test(text) ? undefined : "boolean";
  if (type === "TimeSpan")
    return [SPAN, ISO_SPAN, WORDED_SPAN, /^\d+$/].some((notation) => notation.test(text))
      ? undefined
      : "span";
  if (type === "DateTimeOffset" || type === "DateTime")
    return Number.isNaN(Date.parse(text)) ? "time" : undefined;
  if (type === "Guid")
    return /^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i.test(text) ? undefined : "guid";
  return undefined;
}
