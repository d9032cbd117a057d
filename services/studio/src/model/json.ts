import type { Reason } from "./reasons";

/** JSON as it was written: the order of members and the digits of numbers are kept. */
export type Json = null | boolean | number | string | Exact | Json[] | Members;
export interface Members {
  [member: string]: Json;
}

type RawJson = (text: string) => number;

/** A number that JavaScript would write in another way, such as 1.50 or 2^63. */
export class Exact {
  constructor(readonly text: string) {}

  valueOf(): number {
    return Number(this.text);
  }

  toJSON(): number {
    const raw = (JSON as unknown as { rawJSON?: RawJson }).rawJSON;
    return raw ? raw(this.text) : Number(this.text);
  }
}

export function isMembers(value: unknown): value is Members {
  return value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Exact);
}

export const membersOf = (value: unknown): Members | undefined => (isMembers(value) ? value : undefined);
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
export const listOf = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);

/** Objects whose members JavaScript would put in another order: those named like array indexes. */
const orders = new WeakMap<Members, string[]>();

export const namesOf = (object: Members): string[] => orders.get(object) ?? Object.keys(object);

/** Makes an object with its members in this order. */
export function objectOf(entries: readonly (readonly [string, Json])[]): Members {
  const object: Members = {};
  let isIndexed = false;
  for (const [name, value] of entries) {
    if (name === "__proto__")
      Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
    else object[name] = value;
    isIndexed ||= name.charCodeAt(0) <= 57;
  }
  if (isIndexed) {
    const names = [...new Set(entries.map(([name]) => name))];
    if (Object.keys(object).some((name, at) => name !== names[at])) orders.set(object, names);
  }
  return object;
}

export class NotJson extends Error {
  override readonly name = "NotJson";

  constructor(
    readonly reason: Reason,
    readonly offset: number,
    readonly line: number,
    readonly column: number,
  ) {
    super(reason.is);
  }
}

const WORDS: readonly (readonly [string, Json])[] = [
  ["true", true],
  ["false", false],
  ["null", null],
];

class Reader {
  at = 0;

  constructor(readonly text: string) {}

  fail(reason: Reason, at = this.at): never {
    const before = this.text.slice(0, at);
    const line = before.split("\n").length;
    throw new NotJson(reason, at, line, at - before.lastIndexOf("\n"));
  }

  space(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.at++;
    }
  }

  value(): Json {
    this.space();
    const sign = this.text[this.at];
    if (sign === "{") return this.object();
    if (sign === "[") return this.array();
    if (sign === '"') return this.string();
    for (const [word, value] of WORDS) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    }
    return this.number();
  }

  private number(): Json {
    const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
    number.lastIndex = this.at;
    const found = number.exec(this.text)?.[0];
    if (!found) this.fail({ is: this.at >= this.text.length ? "jsonEnd" : "jsonValue" });
    this.at += found.length;
    const value = Number(found);
    return String(value) === found ? value : new Exact(found);
  }

  private string(): string {
    const from = this.at;
    for (this.at++; ; this.at++) {
      const code = this.text.charCodeAt(this.at);
      if (Number.isNaN(code)) this.fail({ is: "jsonString" }, from);
      if (code === 92) this.at++;
      else if (code === 34) break;
    }
    this.at++;
    try {
      return JSON.parse(this.text.slice(from, this.at)) as string;
    } catch {
      return this.fail({ is: "jsonEscape" }, from);
    }
  }

  private object(): Members {
    const entries: [string, Json][] = [];
    this.at++;
    this.space();
    if (this.take("}")) return {};
    do {
      this.space();
      if (this.text[this.at] !== '"') this.fail({ is: "jsonName" });
      const name = this.string();
      this.space();
      if (!this.take(":")) this.fail({ is: "jsonSign", signs: [":"] });
      entries.push([name, this.value()]);
      this.space();
    } while (this.take(","));
    if (!this.take("}")) this.fail({ is: "jsonSign", signs: [",", "}"] });
    return objectOf(entries);
  }

  private array(): Json[] {
    const items: Json[] = [];
    this.at++;
    this.space();
    if (this.take("]")) return items;
    do {
      items.push(this.value());
      this.space();
    } while (this.take(","));
    if (!this.take("]")) this.fail({ is: "jsonSign", signs: [",", "]"] });
    return items;
  }

  private take(sign: string): boolean {
    if (this.text[this.at] !== sign) return false;
    this.at++;
    return true;
  }
}

export function readText(text: string): Json {
  const reader = new Reader(text);
  const value = reader.value();
  reader.space();
  if (reader.at < text.length) reader.fail({ is: "jsonRest" });
  return value;
}

/** Writes a value with two spaces for each level, as Elsa's exports are. */
export function writeText(value: Json, indent = "\n"): string {
  if (value instanceof Exact) return value.text;
  const inner = indent === "" ? "" : `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return `[${value.map((item) => inner + writeText(item, inner)).join(",")}${indent}]`;
  }
  if (isMembers(value)) {
    const names = namesOf(value);
    if (names.length === 0) return "{}";
    const colon = indent === "" ? ":" : ": ";
    const all = names.map(
      (name) => `${inner}${JSON.stringify(name)}${colon}${writeText(value[name] ?? null, inner)}`,
    );
    return `{${all.join(",")}${indent}}`;
  }
  return JSON.stringify(value);
}

export function isSame(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true;
  if (one instanceof Exact || other instanceof Exact) {
    return one instanceof Exact && other instanceof Exact && one.text === other.text;
  }
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, at) => isSame(item, other[at]));
  }
  if (!isMembers(one) || !isMembers(other)) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]));
}
