/** Subjects and bounds, as the protocol has them. */

export const VERSION = "0.1.0";
export const STREAM = "STAUNCH_TASKS";
/** A larger command is refused, however large a message of this NATS may be. */
const COMMAND_BYTES_MAX = 512 * 1024;
/** What the subject and the headers of a command take at most of the broker's `max_payload`. */
const HEADER_BYTES = 2 * 1024;

/** A name as one token of a subject. */
export function token(name: string): string {
  let out = "";
  for (const byte of new TextEncoder().encode(name)) {
    const char = String.fromCharCode(byte);
    const isPlain = /[A-Za-z0-9_-]/.test(char);
    out += isPlain ? char : "=" + byte.toString(16).toUpperCase().padStart(2, "0");
  }
  return out || "=";
}

/** The name of an event: its dots separate tokens, unless one would be empty. */
export function dotted(name: string): string {
  const parts = name.split(".");
  return parts.includes("") ? token(name) : parts.map(token).join(".");
}

/** The largest body of a command. */
export function bodyBytesMax(maxPayload: number): number {
  return Math.min(COMMAND_BYTES_MAX, maxPayload - HEADER_BYTES);
}
