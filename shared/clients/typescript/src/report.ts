/** Results that no message carries: objects of JetStream, which a header of the report names. */

import { createHash } from "node:crypto";
import type { JetStreamClient } from "@nats-io/jetstream";
import { headers, nuid } from "@nats-io/transport-node";
import { fitting } from "./wire.js";

/** The object store of values that no message carries. */
export const PAYLOADS_STORE = "staunch_payloads";
/** The largest result of a task, as JSON: no workflow could read a larger one. */
export const RESULT_BYTES_MAX = 8 * 1024 * 1024;
/** A part of an object, unless a message of this NATS carries less. */
const PART_BYTES = 128 * 1024;
const ANSWER_MS = 5_000;
/** What to look at where an object is never stored: a refused message has no answer. */
export const OBJECTS_HINT =
  "a user of NATS puts objects only if its permissions were printed with --with-objects (staunch worker creds)";

/** What a worker says about an attempt: a body, and the object that has the result, where the body has none. */
export interface Report {
  body: string;
  object?: string;
}

/**
 * Writes an object below this name: its own is returned. This is what a client of object stores does, and needs
 * no right but to publish its parts and what says of them. The name says what is in the object: one that
 * somebody has replaced is not taken for this one.
 */
export async function put(js: JetStreamClient, below: string, value: Uint8Array, maxPayload: number): Promise<string> {
  const id = nuid.next();
  const size = Math.max(1, fitting(PART_BYTES, maxPayload));
  let chunks = 0;
  for (let at = 0; at < value.length; at += size, chunks++) {
    await js.publish(`$O.${PAYLOADS_STORE}.C.${id}`, value.subarray(at, at + size), { timeout: ANSWER_MS });
  }
  const digest = createHash("sha256").update(value).digest();
  const name = `${below}/sha256-${digest.toString("hex")}`;
  const about = {
    name,
    bucket: PAYLOADS_STORE,
    nuid: id,
    size: value.length,
    chunks,
    options: { max_chunk_size: size },
    digest: `SHA-256=${base64(digest)}`,
  };
  const head = headers();
  head.set("Nats-Rollup", "sub");
  const subject = `$O.${PAYLOADS_STORE}.M.${base64(Buffer.from(name))}`;
  await js.publish(subject, JSON.stringify(about), { timeout: ANSWER_MS, headers: head });
  return name;
}

/** In the alphabet for addresses, with its end filled up. */
function base64(bytes: Buffer): string {
  return bytes.toString("base64").replaceAll("+", "-").replaceAll("/", "_");
}
