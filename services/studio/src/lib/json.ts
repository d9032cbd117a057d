import type { Json } from "../api/types";
import { t } from "../text";

export type Read = { ok: true; value: Json | undefined } | { ok: false; error: string };

/** Reads what somebody typed as JSON; nothing typed is no value. */
export function readJson(text: string): Read {
  if (!text.trim()) return { ok: true, value: undefined };
  try {
    return { ok: true, value: JSON.parse(text) as Json };
  } catch (error) {
    const place = /line (\d+) column (\d+)/.exec(String(error));
    return { ok: false, error: place ? t.notJsonAt(Number(place[1]), Number(place[2])) : t.notJson };
  }
}

export type ReadObject = { ok: true; value: Record<string, Json> | undefined } | { ok: false; error: string };

/** Reads what somebody typed as a JSON object; nothing typed is no value, and any other value is refused. */
export function readObject(text: string): ReadObject {
  const read = readJson(text);
  if (!read.ok) return read;
  const { value } = read;
  return value === undefined || isObject(value) ? { ok: true, value } : { ok: false, error: t.notObject };
}

export function isObject(value: unknown): value is Record<string, Json> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
