/** Starts, resumes, signals, asks and follows instances, over NATS alone. */

import { createHash, randomUUID } from "node:crypto";
import { jetstream } from "@nats-io/jetstream";
import { errors, headers, type Msg, type MsgHdrs, type NatsConnection } from "@nats-io/transport-node";
import { PAYLOAD_BYTES_MAX, dotted, token } from "./wire.js";

type Values = Record<string, unknown>;

/** What became of a command. */
export interface Outcome {
  workflowInstanceId: string | null;
  subStatus: string | null;
  refusal: string | null;
  message: string | null;
  output: Values;
  incidents: string[];
  bookmarks: string[];
  affected: number | null;
}

/** An event of an instance: `started`, `suspended`, `finished`, `faulted` or `cancelled`. */
export interface Event {
  event: string;
  workflowInstanceId: string;
  definitionId: string;
  definitionVersion: number;
  correlationId: string | null;
  subStatus: string;
  version: number;
  output: Values | null;
  incidents: string[];
}

/** An instance as it is. */
export interface Instance extends Omit<Event, "event" | "workflowInstanceId"> {
  id: string;
  bookmarks: { id: string; name: string; activityId: string; payload: unknown }[];
  workflowState: Values | null;
}

export interface StartOptions {
  /** A start that says it happens once: a repeated one is `Refused` as `alreadyDone`. */
  instanceId?: string;
  correlationId?: string;
  /** The outcome comes when the instance waits or is over, not when its first burst is committed. */
  settled?: boolean;
}

export interface SignalOptions {
  instanceId?: string;
  correlationId?: string;
  id?: string;
}

/** A request that was answered with a problem: `status` is that of HTTP. */
export class RequestError extends Error {
  constructor(readonly status: number, readonly title: string, readonly detail: string) {
    super(`${title}: ${detail}`);
  }
}

/** A command that changed nothing. */
export class Refused extends Error {
  constructor(readonly outcome: Outcome) {
    super(`${outcome.refusal}: ${outcome.message ?? "no reason is given"}`);
  }
}

/** The states in which an instance is over, and the event of each. */
const OVER: Record<string, string> = {
  Finished: "finished",
  Faulted: "faulted",
  Cancelled: "cancelled",
};

/** Whether the same query may be answered later. */
function mayBeAnswered(error: unknown): boolean {
  if (error instanceof RequestError) {
    return [404, 408, 429].includes(error.status) || error.status >= 500;
  }
  if (error instanceof errors.RequestError) return error.isNoResponders();
  return error instanceof errors.TimeoutError;
}

/** A client of Staunch over a connection to NATS. */
export class Client {
  readonly #nc: NatsConnection;
  readonly #timeout: number;

  constructor(nc: NatsConnection, options: { timeoutMs?: number } = {}) {
    this.#nc = nc;
    this.#timeout = options.timeoutMs ?? 30_000;
  }

  /** Starts an instance. */
  start(definition: string, input: Values = {}, options: StartOptions = {}): Promise<Outcome> {
    const { instanceId, correlationId, settled } = options;
    const body = { input, instanceId, correlationId };
    return this.#command(`start.${token(definition)}`, body, settled);
  }

  /** Resumes an instance at a bookmark, which may be left out where there is one alone. */
  resume(instanceId: string, bookmarkId?: string, input: Values = {}): Promise<Outcome> {
    return this.#command(`resume.${token(instanceId)}`, { bookmarkId, input });
  }

  /** Cancels an instance. */
  cancel(instanceId: string, reason?: string): Promise<Outcome> {
    return this.#command(`cancel.${token(instanceId)}`, { reason });
  }

  /** Publishes an event. When this resolves, JetStream has stored it. */
  async signal(event: string, payload: unknown = null, options: SignalOptions = {}): Promise<void> {
    const { instanceId, correlationId, id } = options;
    const body = JSON.stringify({ payload, instanceId, correlationId });
    const subject = `staunch.cmd.event.${dotted(event)}`;
    const js = jetstream(this.#nc, { timeout: this.#timeout });
    await js.publish(subject, body, { msgID: id ?? randomUUID() });
  }

  /** An instance as it is. */
  query(instanceId: string): Promise<Instance> {
    return this.#ask<Instance>(`staunch.api.get.${token(instanceId)}`, "");
  }

  /** The bytes of a payload, such as one that `{"$payload": …}` names in an output. */
  async payload(hash: string, options: { bytesMax?: number } = {}): Promise<Uint8Array> {
    const { bytesMax = PAYLOAD_BYTES_MAX } = options;
    const parts: Uint8Array[] = [];
    for (let count = 1, left = 1; parts.length < count && left > 0; ) {
      const body = JSON.stringify({ part: parts.length });
      const part = await this.#request(`staunch.api.payload.${token(hash)}`, body);
      const size = Number(part.headers?.get("Staunch-Payload-Bytes") || NaN);
      count = Number(part.headers?.get("Staunch-Payload-Parts") || NaN);
      if (Number.isNaN(size + count)) throw new Error(`the answer is no part of the payload ${hash}`);
      if (size > bytesMax) {
        const detail = `the payload ${hash} has ${size} bytes, more than the ${bytesMax} here`;
        throw new RequestError(413, "Too large", detail);
      }
      parts.push(part.data);
      left = part.data.length && size - parts.reduce((sum, one) => sum + one.length, 0);
    }
    const whole = Buffer.concat(parts);
    if (`sha256-${createHash("sha256").update(whole).digest("hex")}` !== hash) {
      throw new RequestError(500, "Damaged", `the bytes that were read are not those of ${hash}`);
    }
    return whole;
  }

  /**
   * Follows an instance until it is over.
   *
   * Events are heard live, and may be lost; the end is not: the instance is asked for every few
   * seconds, and again when nobody answers, or with 408, 429 or 5xx. An instance that does not exist
   * yet is waited for. A watch of one that never ends goes on until its connection is closed.
   */
  async *watch(instanceId: string, options: { everyMs?: number } = {}): AsyncGenerator<Event> {
    const heard: Event[] = [];
    let wake = () => {};
    const events = this.#nc.subscribe(`staunch.event.*.${token(instanceId)}.*`, {
      callback: (error, message) => {
        if (error) return;
        const event = message.subject.slice(message.subject.lastIndexOf(".") + 1);
        heard.push({ ...message.json<Omit<Event, "event">>(), event });
        wake();
      },
    });
    let patience = 50;
    try {
      for (;;) {
        if (heard.length === 0) {
          let timer: NodeJS.Timeout | undefined;
          await new Promise<void>((resolve) => {
            wake = resolve;
            timer = setTimeout(resolve, patience);
          });
          clearTimeout(timer);
          patience = options.everyMs ?? 5_000;
        }
        const event = heard.shift() ?? (await this.#end(instanceId));
        if (!event) continue;
        yield event;
        if (Object.values(OVER).includes(event.event)) return;
      }
    } finally {
      events.unsubscribe();
    }
  }

  async #end(instanceId: string): Promise<Event | undefined> {
    try {
      const { id, bookmarks, workflowState, ...found } = await this.query(instanceId);
      const event = OVER[found.subStatus];
      return event ? { ...found, event, workflowInstanceId: id } : undefined;
    } catch (error) {
      if (mayBeAnswered(error)) return undefined;
      throw error;
    }
  }

  async #command(rest: string, body: Values, settled = false): Promise<Outcome> {
    const head = headers();
    head.set("Nats-Msg-Id", randomUUID());
    if (settled) head.set("Staunch-Reply-When", "settled");
    const outcome = await this.#ask<Outcome>(`staunch.api.${rest}`, JSON.stringify(body), head);
    // A command that waits is kept, and applied later.
    if (outcome.refusal && outcome.refusal !== "waiting") throw new Refused(outcome);
    return outcome;
  }

  async #ask<T>(subject: string, body: string, head?: MsgHdrs): Promise<T> {
    return (await this.#request(subject, body, head)).json<T>();
  }

  /** The answer, unless it is a problem. */
  async #request(subject: string, body: string, head?: MsgHdrs): Promise<Msg> {
    const options = { timeout: this.#timeout, headers: head };
    const answer = await this.#nc.request(subject, body, options);
    if (answer.headers?.has("Nats-Service-Error-Code")) {
      const problem = answer.json<{ status: number; title: string; detail: string }>();
      throw new RequestError(problem.status, problem.title, problem.detail);
    }
    return answer;
  }
}
