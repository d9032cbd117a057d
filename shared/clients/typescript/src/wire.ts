/** Subjects and bounds, as the protocol has them. */

export const VERSION = "0.1.0";
export const STREAM = "STAUNCH_TASKS";
/** A larger command is refused, however large a message of this NATS may be. */
const COMMAND_BYTES_MAX = 512 * 1024;
/** What the subject and the headers of a command take at most of the broker's `max_payload`. */
const HEADER_BYTES = 2 * 1024;

/** Bytes of a payload that is read into memory; of a task, those of all payloads of its input together. */
export const PAYLOAD_BYTES_MAX = 8 * 1024 * 1024;

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
  return fitting(COMMAND_BYTES_MAX, maxPayload);
}

/** This many bytes, or what fits into a message of this NATS beside its headers. */
export function fitting(bytes: number, maxPayload: number): number {
  return Math.min(bytes, maxPayload - HEADER_BYTES);
}

/** What an object is in, its key there, and the payload with the value for which it stands. */
type StandIn = [place: Record<string, unknown>, key: string, hash: string];

/** Every object inside that stands for a value in a payload: `{"$payload": "sha256-…", "bytes": 600000}`. */
export function* standIns(value: unknown): Generator<StandIn> {
  if (typeof value !== "object" || value === null) return;
  const place = value as Record<string, unknown>;
  for (const [key, item] of Object.entries(place)) {
    const hash = payloadOf(item);
    if (hash) yield [place, key, hash];
    else yield* standIns(item);
  }
}

function payloadOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { $payload: hash, ...rest } = value as Record<string, unknown>;
  const names = Object.keys(rest);
  const isIt = names.length === 0 || (names.length === 1 && Number.isInteger(rest.bytes));
  return isIt && typeof hash === "string" && hash.startsWith("sha256-") ? hash : undefined;
}
