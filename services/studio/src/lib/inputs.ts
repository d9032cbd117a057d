import type { Json } from "../api/types";
import { t } from "../text";
import { readJson } from "./json";

/** What a form asks for an input of a type. */
export type Editor = "text" | "number" | "switch" | "json";

const NUMBERS = /^(U?Int(16|32|64)|Decimal|Double|Single|Float|Byte|Short|Long|Number)$/i;

export function editorOf(type: string | null | undefined, isArray: boolean): Editor {
  const last = (type ?? "Object").split(",")[0]?.split(".").at(-1) ?? "Object";
  if (isArray) return "json";
  if (NUMBERS.test(last)) return "number";
  if (/^Bool(ean)?$/i.test(last)) return "switch";
  if (/^(String|Guid|Uri|Char|DateTime|DateTimeOffset|DateOnly|TimeOnly|TimeSpan)$/i.test(last))
    return "text";
  return "json";
}

/** Reads what was typed; an empty box is no value. */
export function readInput(editor: Editor, text: string): { value?: Json; error?: string } {
  if (editor === "text" ? text === "" : text.trim() === "") return {};
  if (editor === "text") return { value: text };
  if (editor === "switch") return { value: text === "true" };
  if (editor === "number") {
    const value = Number(text);
    return Number.isFinite(value) ? { value } : { error: t.notNumber };
  }
  const read = readJson(text);
  return read.ok ? { value: read.value } : { error: read.error };
}
