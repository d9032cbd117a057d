import { type Call, send } from "./client";
import { onNetwork } from "./network";
import { onPresence, presence } from "./presence";
import { asProblem, cutOff, Problem } from "./problem";
import { session } from "./session";

export interface ServerEvent {
  id?: string;
  name: string;
  data: string;
}

export type LinkState =
  | { is: "connecting" }
  | { is: "open" }
  | { is: "broken"; until: number }
  | { is: "idle" };

/** Splits a stream of server-sent events, which may be cut anywhere, into events. */
export class EventParser {
  private rest = "";

  push(text: string): ServerEvent[] {
    this.rest += text.replaceAll("\r\n", "\n");
    const blocks = this.rest.split("\n\n");
    this.rest = blocks.pop() ?? "";
    return blocks.flatMap((block) => {
      const event: ServerEvent = { name: "message", data: "" };
      const data: string[] = [];
      for (const line of block.split("\n")) {
        const colon = line.indexOf(":");
        if (colon <= 0) continue;
        const value = line.slice(colon + 1).replace(/^ /, "");
        const field = line.slice(0, colon);
        if (field === "id") event.id = value;
        else if (field === "event") event.name = value;
        else if (field === "data") data.push(value);
      }
      if (data.length === 0) return [];
      event.data = data.join("\n");
      return [event];
    });
  }
}

/** The longest that nothing comes: the server sends a comment every 15 s. */
const PATIENCE_MS = 40_000;

/** Sends a request and yields the events of its answer. The connection closes when nobody reads on. */
async function* eventsOf(
  path: string,
  call: Call,
  stop: AbortSignal,
  onOpen?: () => void,
): AsyncGenerator<ServerEvent, void> {
  const own = new AbortController();
  const signal = AbortSignal.any([stop, own.signal]);
  const patiently = async <T>(wait: Promise<T>): Promise<T> => {
    const silence = setTimeout(() => own.abort(), PATIENCE_MS);
    try {
      return await wait;
    } catch (error) {
      throw error instanceof Problem ? error : cutOff(`${call.method ?? "GET"} ${path}`);
    } finally {
      clearTimeout(silence);
    }
  };
  try {
    const headers = { Accept: "text/event-stream", ...call.headers };
    const answer = await patiently(send(path, { ...call, signal, headers }));
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    if (!reader) return;
    onOpen?.();
    const parser = new EventParser();
    for (;;) {
      const { value, done } = await patiently(reader.read());
      if (done) return;
      for (const event of parser.push(value)) {
        if (stop.aborted) return;
        yield event;
      }
    }
  } finally {
    own.abort();
  }
}

interface Reading extends Omit<Call, "signal"> {
  path: string;
  signal: AbortSignal;
  /** The name of the event that completes the stream. */
  last: string;
  onEvent: (event: ServerEvent) => void;
}

/** Reads a stream once, up to the event that completes it. A stream that ends before is an error. */
export async function readOnce({ path, signal, last, onEvent, ...call }: Reading): Promise<void> {
  for await (const event of eventsOf(path, call, signal)) {
    onEvent(event);
    if (event.name === last) return;
  }
  throw cutOff(`${call.method ?? "GET"} ${path}`);
}

interface Follower {
  path: string;
  query?: Record<string, string>;
  onEvent: (event: ServerEvent) => void;
  onState?: (state: LinkState) => void;
}

/** The longest that a stream may take to open: the browser lets it wait while others hold all connections. */
const OPENING_MS = 10_000;
/** A tab that is not the first one looks for this long at what is new, and again after a pause. */
const LOOK_MS = 1000;
const LOOK_PAUSE_MS = 5000;

/**
 * Follows a stream of events, and goes on after the last one when the connection breaks. Only the first tab holds
 * the stream open. When the network changes, it connects again: a connection may be dead and not know it.
 */
export function follow({ path, query, onEvent, onState }: Follower): () => void {
  const stop = new AbortController();
  let last: string | undefined;
  let failures = 0;
  let isLive = false;

  /** Reads until this tab ends it. A stream that ends before is an error. */
  async function read(): Promise<void> {
    const own = new AbortController();
    let isEnough = false;
    const end = () => {
      isEnough = true;
      own.abort();
    };
    let limit = setTimeout(() => own.abort(), OPENING_MS);
    const forget = onPresence(end);
    const forgetNetwork = onNetwork(() => own.abort());
    const call = last ? { headers: { "Last-Event-ID": last } } : { query };
    const open = () => {
      isLive = true;
      failures = 0;
      onState?.({ is: "open" });
      clearTimeout(limit);
      if (presence() === "other") limit = setTimeout(end, LOOK_MS);
    };
    try {
      for await (const event of eventsOf(path, call, AbortSignal.any([stop.signal, own.signal]), open)) {
        if (event.id) last = event.id;
        onEvent(event);
      }
      throw cutOff(`GET ${path}`);
    } catch (error) {
      if (!isEnough) throw error;
    } finally {
      clearTimeout(limit);
      forget();
      forgetNetwork();
    }
  }

  /** Waits; a change of the presence or of the network ends the wait. */
  function rest(milliseconds?: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        forget();
        forgetNetwork();
        stop.signal.removeEventListener("abort", end);
        resolve();
      };
      const timer = milliseconds === undefined ? undefined : setTimeout(end, milliseconds);
      const forget = onPresence(end);
      const forgetNetwork = onNetwork(end);
      stop.signal.addEventListener("abort", end);
    });
  }

  async function keep(): Promise<void> {
    while (!stop.signal.aborted) {
      if (presence() === "hidden") {
        await rest();
        continue;
      }
      if (!isLive) onState?.({ is: "connecting" });
      try {
        await read();
        if (presence() === "other") await rest(LOOK_PAUSE_MS);
      } catch (error) {
        if (stop.signal.aborted) return;
        const { status } = asProblem(error);
        if (status === 401 && session.isRefused()) {
          isLive = false;
          await session.accepted(stop.signal);
          continue;
        }
        if (status === 401 || status === 403 || status === 404) {
          onState?.({ is: "idle" });
          return;
        }
        isLive = false;
        const pause = Math.min(500 * 2 ** failures, 15_000);
        failures += 1;
        onState?.({ is: "broken", until: Date.now() + pause });
        await rest(pause);
      }
    }
  }

  void keep();
  return () => stop.abort();
}
