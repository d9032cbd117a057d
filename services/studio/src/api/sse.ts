import { send } from "./client";
import { asProblem } from "./problem";

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

interface Follower {
  path: string;
  query?: Record<string, string>;
  onEvent: (event: ServerEvent) => void;
  onState?: (state: LinkState) => void;
}

const PATIENCE_MS = 40_000;

/** Follows a stream of events, and goes on after the last one when the connection breaks. */
export function follow({ path, query, onEvent, onState }: Follower): () => void {
  const stop = new AbortController();
  let last: string | undefined;
  let failures = 0;

  async function connect(): Promise<void> {
    onState?.({ is: "connecting" });
    const attempt = new AbortController();
    const abort = () => attempt.abort();
    stop.signal.addEventListener("abort", abort);
    const answer = await send(path, {
      query: last ? undefined : query,
      signal: attempt.signal,
      headers: { Accept: "text/event-stream", ...(last ? { "Last-Event-ID": last } : {}) },
    });
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    if (!reader) return;
    onState?.({ is: "open" });
    failures = 0;
    const parser = new EventParser();
    for (;;) {
      // The server sends a comment every 15 s: silence means that the connection is gone.
      const silence = setTimeout(abort, PATIENCE_MS);
      const { value, done } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return;
      for (const event of parser.push(value)) {
        if (event.id) last = event.id;
        onEvent(event);
      }
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
