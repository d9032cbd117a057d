import type { Json } from "../api/types";
import { t } from "../text";

export type Read = { ok: true; value: Json | undefined } | { ok: false; error: string };

/** Reads what somebody typed as JSON; nothing typed is no value. */
export function readJson(text: string): Read {
  if (!text.trim()) return { ok: true, value: undefined };
  try {
    return { ok: true, value: JSON.parse(text) as Json };
  } catch (error) {
    return { ok: false, error: t.notJson(error instanceof Error ? error.message : String(error)) };
  }
}

export function isObject(value: unknown): value is Record<string, Json> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
