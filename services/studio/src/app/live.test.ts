import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { become } from "../api/presence";
import { type Happening, KEPT, onHappenings, PENDING_MAX, startLive, useFeed, useLiveState } from "./live";

// What a page would render: each new snapshot is one render.
const renders = { feed: [] as Happening[], count: 0 };
const subscribed: (() => void)[] = [];
vi.mock("react", async (original) => ({
  ...(await original<typeof import("react")>()),
  useSyncExternalStore: <T>(subscribe: (listener: () => void) => () => void, snapshot: () => T) => {
    subscribed.push(subscribe(() => rendered(snapshot())));
    return snapshot();
  },
}));

function rendered(snapshot: unknown): void {
  if (!Array.isArray(snapshot) || snapshot === renders.feed) return;
  renders.feed = snapshot;
  renders.count += 1;
}

const NOW = Date.parse("2026-01-31T08:00:00Z");
const asked: { path: string; body?: unknown; headers: Headers }[] = [];
let streams: ReadableStreamDefaultController<Uint8Array>[] = [];
let changed: { updatedAt: string }[] | Error;
let stop: () => void;
const batches: string[][] = [];

beforeEach(() => {
  vi.useFakeTimers({ now: NOW });
  asked.length = 0;
  batches.length = 0;
  streams = [];
  changed = [];
  renders.feed = [];
  renders.count = 0;
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    asked.push({
      path,
      body: init.body ? JSON.parse(String(init.body)) : undefined,
      headers: new Headers(init.headers),
    });
    if (path.includes("/query")) {
      if (changed instanceof Error) throw changed;
      return Response.json({ items: changed, totalCount: 0 });
    }
    return new Response(
      new ReadableStream<Uint8Array>({
        start(controller) {
          streams.push(controller);
          init.signal?.addEventListener("abort", () => controller.error(new Error("aborted")));
        },
      }),
    );
  });
  subscribed.push(onHappenings((events) => batches.push(events.map(({ id }) => id))));
  useFeed();
});

afterEach(() => {
  stop();
  for (const forget of subscribed.splice(0)) forget();
  become("first");
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const pass = (milliseconds = 0) => vi.advanceTimersByTimeAsync(milliseconds);

async function start(): Promise<void> {
  stop = startLive();
  await pass();
  renders.count = 0;
}

/** Sends the events of these numbers, in chunks as a connection has them. */
async function send(from: number, count: number, data = "{}"): Promise<void> {
  for (let first = from; first < from + count; first += 500) {
    let text = "";
    for (let id = first; id < Math.min(first + 500, from + count); id += 1)
      text += `id: ${id}\nevent: started\ndata: ${data}\n\n`;
    streams.at(-1)?.enqueue(new TextEncoder().encode(text));
    await pass();
  }
}

it("renders a flood of events a few times a second, and shows the newest ones", async () => {
  await start();
  await send(1, 16_000);
  await pass(250);
  expect(renders.count).toBeLessThanOrEqual(3);
  expect(renders.feed.map(({ id }) => id)).toEqual(Array.from({ length: KEPT }, (_, at) => `${16_000 - at}`));
  for (let id = 20_000; id < 20_100; id += 1) {
    await send(id, 1);
    await pass(10);
  }
  expect(renders.count).toBeLessThanOrEqual(9);
});

it("shows an event at once when nothing came before it", async () => {
  await start();
  await send(7, 1, '{"workflowInstanceId":"order-7","definitionId":"order","time":"2026-01-31T07:59:59Z"}');
  expect(renders.feed).toEqual([
    { id: "7", name: "started", at: "2026-01-31T07:59:59Z", instanceId: "order-7", definitionId: "order" },
  ]);
  await send(8, 1, "no JSON");
  await pass(1000);
  expect(renders.count).toBe(1);
});

it("tells the pages each event once, the oldest first, together with those that came with it", async () => {
  await start();
  await send(1, 1);
  await send(2, 3);
  await pass(250);
  expect(batches).toEqual([["1"], ["2", "3", "4"]]);
});

it("keeps no more events than it can hand on", async () => {
  await start();
  await send(1, 2 * PENDING_MAX + 600);
  await pass(250);
  expect(Math.max(...batches.map(({ length }) => length))).toBe(PENDING_MAX);
  expect(batches.at(-1)?.at(-1)).toBe(`${2 * PENDING_MAX + 600}`);
});

it("begins with the events that the feed shows, at most ten minutes ago", async () => {
  const tenMinutesAgo = "2026-01-31T07:50:00.000Z";
  for (const [found, after] of [
    [[{ updatedAt: "2026-01-31T07:59:30Z" }], "2026-01-31T07:59:30Z"],
    [[{ updatedAt: "2026-01-30T07:59:30Z" }], tenMinutesAgo],
    [[], tenMinutesAgo],
    [new TypeError("no network"), tenMinutesAgo],
  ] as const) {
    asked.length = 0;
    changed = found as typeof changed;
    await start();
    expect(asked).toHaveLength(2);
    expect(asked[0]?.body).toEqual({ orderBy: "UpdatedAt", skip: KEPT - 1, take: 1 });
    expect(new URL(asked[1]?.path ?? "", "http://host").searchParams.get("after")).toBe(after);
    stop();
  }
});

it("is connecting, then open, and follows nothing after it was left", async () => {
  const states: string[] = [];
  stop = startLive();
  states.push(useLiveState().is);
  await pass();
  states.push(useLiveState().is);
  expect(states).toEqual(["connecting", "open"]);
  stop();
  stop = startLive();
  stop();
  await pass(1000);
  expect(streams).toHaveLength(1);
});

it("begins anew in a tab that nobody saw for long, and shows no event twice", async () => {
  await start();
  await send(1, 3);
  await pass(250);
  become("hidden");
  await pass(10_000);
  become("first");
  await pass();
  expect(streams).toHaveLength(2);
  expect(asked.at(-1)?.headers.get("Last-Event-ID")).toBe("3");
  become("hidden");
  await pass(3_600_000);
  become("first");
  await pass();
  expect(streams).toHaveLength(3);
  expect(asked.at(-1)?.headers.get("Last-Event-ID")).toBeNull();
  await send(2, 3);
  await pass(250);
  expect(renders.feed.map(({ id }) => id)).toEqual(["4", "3", "2", "1"]);
});
