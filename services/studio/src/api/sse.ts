import { type Call, send } from "./client";
import { asProblem, cutOff, Problem } from "./problem";

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

/** Follows a stream of events, and goes on after the last one when the connection breaks. */
export function follow({ path, query, onEvent, onState }: Follower): () => void {
  const stop = new AbortController();
  let last: string | undefined;
  let failures = 0;

  async function connect(): Promise<void> {
    onState?.({ is: "connecting" });
    const call = last ? { headers: { "Last-Event-ID": last } } : { query };
    const open = () => {
      onState?.({ is: "open" });
      failures = 0;
    };
    for await (const event of eventsOf(path, call, stop.signal, open)) {
      if (event.id) last = event.id;
      onEvent(event);
    }
  }

  async function keep(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        await connect();
      } catch (error) {
        const { status } = asProblem(error);
        if (status === 401 || status === 403 || status === 404) {
          onState?.({ is: "idle" });
          return;
        }
      }
      if (stop.signal.aborted) return;
      const pause = Math.min(500 * 2 ** failures, 15_000);
      failures += 1;
      onState?.({ is: "broken", until: Date.now() + pause });
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  void keep();
  return () => stop.abort();
}
