import { payloadOf } from "../lib/payloads";
import { visible } from "../lib/visible";
import { t } from "../text";
import { Code, pretty } from "./Code";
import { PayloadValue } from "./Payload";

/** A value in a row: short ones as they are, long ones folded, and of one that is kept apart its beginning. */
export function Value({ value, label }: { value: unknown; label: string }) {
  if (value === null || value === undefined) return <span className="text-soft">{t.none}</span>;
  const payload = payloadOf(value);
  if (payload) return <PayloadValue of={payload} label={label} />;
  const text = typeof value === "string" ? value : pretty(value);
  if (text.length <= 80 && !text.includes("\n")) {
    return <code className="font-mono text-xs [overflow-wrap:anywhere]">{visible(text)}</code>;
  }
  return <Code text={text} label={label} />;
}
