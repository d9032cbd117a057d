import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { networkChanged } from "./network";
import { become } from "./presence";
import { session } from "./session";
import { EventParser, follow, readOnce, type ServerEvent } from "./sse";

const STREAM = `retry: 1000
: open

id: 17
event: started
data: {"a":1}

: sign of life

data: one
data: two

`;

const EVENTS = [
  { id: "17", name: "started", data: '{"a":1}' },
  { name: "message", data: "one\ntwo" },
];

it("reads events, wherever the stream is cut", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: STREAM.length }), { maxLength: 8 }), (cuts) => {
      const parser = new EventParser();
      const bounds = [0, ...cuts.sort((a, b) => a - b), STREAM.length];
      const events = bounds.slice(1).flatMap((end, at) => parser.push(STREAM.slice(bounds[at], end)));
      expect(events).toEqual(EVENTS);
    }),
  );
});

describe("a stream that is read once", () => {
  const fetched = vi.fn<typeof fetch>();
  let push: (text: string) => void;
  let end: (error?: Error) => void;

  beforeEach(() => {
    vi.stubGlobal("fetch", fetched);
    fetched.mockReset();
    fetched.mockImplementation(async (_, init) => {
      const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
        start(controller) {
          push = (text) => controller.enqueue(new TextEncoder().encode(text));
          end = (error) => (error ? controller.error(error) : controller.close());
          init?.signal?.addEventListener("abort", () => controller.error(new Error("aborted")));
        },
      });
      return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
    });
  });

  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  const opened = () => vi.waitFor(() => expect(fetched).toHaveBeenCalled());

  function read() {
    const leaving = new AbortController();
    const names: string[] = [];
    const { signal } = leaving;
    const onEvent = ({ name }: ServerEvent) => names.push(name);
    const reading = readOnce({ path: "/run", method: "POST", signal, last: "done", onEvent });
    return { reading, names, leave: () => leaving.abort() };
  }

  const isClosed = () => fetched.mock.calls[0]?.[1]?.signal?.aborted;

  it("is complete with its last event, and is not asked for again", async () => {
    const { reading, names } = read();
    await opened();
    push(": alive\n\nevent: part\ndata: {}\n\nevent: done\n");
    push("data: {}\n\nevent: more\ndata: {}\n\n");
    await reading;
    expect(names).toEqual(["part", "done"]);
    expect(fetched).toHaveBeenCalledTimes(1);
    expect(fetched.mock.calls[0]?.[1]).toMatchObject({ method: "POST" });
    expect(isClosed()).toBe(true);
  });

  it("fails when it ends or breaks before, with what came until then", async () => {
    for (const error of [undefined, new TypeError("network error")]) {
      const { reading, names } = read();
      const failed = expect(reading).rejects.toMatchObject({ status: 0, title: "The connection broke." });
      await opened();
      push("event: part\ndata: {}\n\n");
      await vi.waitFor(() => expect(names).toEqual(["part"]));
      end(error);
      await failed;
      expect(fetched).toHaveBeenCalledTimes(1);
      fetched.mockClear();
    }
  });

  it("fails with the problem that is the answer", async () => {
    const body = JSON.stringify({ title: "Conflict", detail: "a validation runs" });
    fetched.mockImplementation(async () => new Response(body, { status: 409 }));
    await expect(read().reading).rejects.toMatchObject({ status: 409, detail: "A validation runs." });
    expect(fetched).toHaveBeenCalledTimes(1);
  });

  it("fails when nothing comes for too long", async () => {
    vi.useFakeTimers();
    const { reading } = read();
    const failed = expect(reading).rejects.toMatchObject({ title: "The connection broke." });
    await vi.advanceTimersByTimeAsync(30_000);
    push(": alive\n\n");
    await vi.advanceTimersByTimeAsync(30_000);
    expect(isClosed()).toBe(false);
    await vi.advanceTimersByTimeAsync(15_000);
    await failed;
    expect(isClosed()).toBe(true);
  });

  it("closes its connection when it is left, and when its reader fails", async () => {
    const { reading, names, leave } = read();
    await opened();
    push("event: part\ndata: {}\n\n");
    await vi.waitFor(() => expect(names).toEqual(["part"]));
    leave();
    await expect(reading).rejects.toThrow();
    expect(isClosed()).toBe(true);
    fetched.mockClear();
    const { signal } = new AbortController();
    const onEvent = () => {
      throw new Error("a mistake of the page");
    };
    const mistaken = readOnce({ path: "/run", signal, last: "done", onEvent });
    await opened();
    push("event: part\ndata: {}\n\n");
    await expect(mistaken).rejects.toThrow("a mistake of the page");
    expect(isClosed()).toBe(true);
  });
});

describe("a stream that is followed", () => {
  it("goes on after its last event when the connection breaks", async () => {
    const fetched = vi.fn<typeof fetch>(async () => new Response("id: 7\ndata: {}\n\n"));
    vi.stubGlobal("fetch", fetched);
    const ids: (string | undefined)[] = [];
    const onEvent = ({ id }: ServerEvent) => ids.push(id);
    const stop = follow({ path: "/events", query: { after: "0" }, onEvent });
    await vi.waitFor(() => expect(fetched).toHaveBeenCalledTimes(2), 5000);
    stop();
    vi.unstubAllGlobals();
    expect(ids[0]).toBe("7");
    const [first, second] = fetched.mock.calls;
    expect(String(first?.[0])).toContain("after=0");
    expect(String(second?.[0])).not.toContain("after");
    expect(new Headers(second?.[1]?.headers).get("Last-Event-ID")).toBe("7");
    expect(new Headers(second?.[1]?.headers).get("Accept")).toBe("text/event-stream");
  });

  describe("by a tab", () => {
    const signals: AbortSignal[] = [];
    const states: string[] = [];
    let answers: () => Response;
    let stop: () => void;

    const streaming = () =>
      new Response(
        new ReadableStream({
          start(controller) {
            signals.at(-1)?.addEventListener("abort", () => controller.error(new Error("aborted")));
          },
        }),
      );

    beforeEach(() => {
      vi.useFakeTimers();
      answers = streaming;
      vi.stubGlobal("fetch", async (_: string, { signal }: { signal: AbortSignal }) => {
        signals.push(signal);
        return answers();
      });
      signals.length = 0;
      states.length = 0;
    });

    afterEach(() => {
      stop();
      become("first");
      vi.useRealTimers();
      vi.unstubAllGlobals();
    });

    const begin = () => {
      stop = follow({ path: "/events", onEvent: () => undefined, onState: ({ is }) => states.push(is) });
      return vi.advanceTimersByTimeAsync(29_000);
    };
    const isOpen = () => signals.at(-1)?.aborted === false;

    it("stays open in the first one, and closes where nobody looks", async () => {
      await begin();
      expect([signals.length, isOpen()]).toEqual([1, true]);
      become("hidden");
      await vi.advanceTimersByTimeAsync(30_000);
      expect([signals.length, isOpen()]).toEqual([1, false]);
      become("first");
      await vi.advanceTimersByTimeAsync(10);
      expect([signals.length, isOpen()]).toEqual([2, true]);
      expect(states).not.toContain("broken");
    });

    it("is opened from time to time in another one", async () => {
      become("other");
      await begin();
      expect(signals).toHaveLength(5);
      expect(states.filter((one) => one !== "open")).toEqual(["connecting"]);
      become("first");
      await vi.advanceTimersByTimeAsync(30_000);
      expect([signals.length, isOpen()]).toEqual([6, true]);
    });

    it("connects again when the network changes, and says so until it is", async () => {
      await begin();
      answers = () => new Response("", { status: 503 });
      networkChanged();
      await vi.advanceTimersByTimeAsync(10);
      expect(isOpen()).toBe(false);
      expect(states.at(-1)).toBe("broken");
      await vi.advanceTimersByTimeAsync(60_000);
      const tries = signals.length;
      answers = streaming;
      networkChanged();
      await vi.advanceTimersByTimeAsync(10);
      expect([signals.length, isOpen()]).toEqual([tries + 1, true]);
      expect(states.at(-1)).toBe("open");
    });

    it("goes on once one has signed in again, and asks nothing before", async () => {
      vi.stubGlobal("sessionStorage", { removeItem: () => undefined });
      answers = () => new Response("{}", { status: 401 });
      await begin();
      const tries = signals.length;
      await vi.advanceTimersByTimeAsync(60_000);
      expect(signals.length).toBe(tries);
      answers = streaming;
      session.set({ kind: "none" });
      await vi.advanceTimersByTimeAsync(10);
      expect([signals.length, isOpen()]).toEqual([tries + 1, true]);
      expect(states.at(-1)).toBe("open");
    });

    it("does not wait for ever to open", async () => {
      const waiting = new Promise<Response>(() => undefined);
      vi.stubGlobal("fetch", (_: string, { signal }: { signal: AbortSignal }) => {
        signals.push(signal);
        const gone = new Promise<never>((_, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason)),
        );
        return Promise.race([waiting, gone]);
      });
      await begin();
      expect(signals.length).toBeGreaterThan(1);
      expect(signals[0]?.aborted).toBe(true);
      expect(states).toContain("broken");
    });
  });
});
