import { isObject } from "./json";

/** A value that is too large to stand in its instance: its bytes are kept apart, under their hash. */
export interface Payload {
  hash: string;
  bytes: number;
}

/** The payload that stands for a value; undefined for every other value. */
export function payloadOf(value: unknown): Payload | undefined {
  if (!isObject(value) || Object.keys(value).length !== 2) return undefined;
  const { $payload: hash, bytes } = value;
  return typeof hash === "string" && typeof bytes === "number" ? { hash, bytes } : undefined;
}

/** The beginning of a text that comes in parts, of so many bytes; what comes after it is not read. */
export async function beginningOf(body: ReadableStream<Uint8Array>, length: number): Promise<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let left = length; left > 0; ) {
    const { value, done } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value.subarray(0, left), { stream: true });
    left -= value.length;
  }
  await reader.cancel();
  return text;
}
