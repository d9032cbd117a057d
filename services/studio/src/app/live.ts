import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { json } from "../api/client";
import { onPresence, presence } from "../api/presence";
import { follow, type LinkState, type ServerEvent } from "../api/sse";
import type { Api } from "../api/types";
import { throttle } from "../lib/throttle";

export interface Happening {
  id: string;
  name: string;
  at: string;
  instanceId: string;
  definitionId: string;
}

/** The newest events that are kept to be shown. */
export const KEPT = 100;
/** The past that is shown, where it is not more than `KEPT` events. */
const PAST_MS = 600_000;
/** The longest that the page waits to know where it begins. */
const BEGINNING_MS = 5000;
/** A tab that nobody sees for longer does not go on where it was. */
const AWAY_MS = 60_000;
/** Events reach the pages together, at most once in this time. */
const FLUSH_MS = 250;
/** The most events that wait for the pages; more than the server sends between two flushes. */
export const PENDING_MAX = 10_000;
/** What follows events by queries asks at most once in this time. */
const RELOAD_MS = 2000;

let state: LinkState = { is: "idle" };
let feed: Happening[] = [];
let pending: Happening[] = [];
const listeners = new Set<() => void>();
const eventListeners = new Set<(events: Happening[]) => void>();

function changed(): void {
  for (const listener of listeners) listener();
}

/** Whether the past was heard since this page follows the events: unknown before the first answer. */
let isHeard: boolean | undefined;

function become(next: LinkState): void {
  state = next;
  if (next.is === "open") isHeard = true;
  else if (next.is !== "connecting") isHeard ??= false;
  changed();
}

/** Hands on what came since the last time. What is too old to be shown is dropped before it is rendered. */
const flush = throttle(() => {
  const shown = new Set(feed.map(({ id }) => id));
  const events = pending.slice(-PENDING_MAX).filter(({ id }) => !shown.has(id));
  pending = [];
  if (events.length === 0) return;
  feed = [...events.slice(-KEPT).reverse(), ...feed].slice(0, KEPT);
  for (const listener of eventListeners) listener(events);
  changed();
}, FLUSH_MS);

function take(event: ServerEvent): void {
  if (!event.id) return;
  try {
    const data = JSON.parse(event.data) as Record<string, unknown>;
    pending.push({
      id: event.id,
      name: event.name,
      at: String(data.time ?? new Date().toISOString()),
      instanceId: String(data.workflowInstanceId ?? ""),
      definitionId: String(data.definitionId ?? ""),
    });
  } catch {
    // An event of a newer server that is no JSON says nothing here.
    return;
  }
  if (pending.length >= 2 * PENDING_MAX) pending = pending.slice(-PENDING_MAX);
  flush();
}

/**
 * The time after which not many more than `KEPT` events can have happened, at most ten minutes ago: each event
 * changes an instance, so it is when the one changed that is as many changes back.
 */
async function beginning(leaving: AbortSignal): Promise<string> {
  const past = new Date(Date.now() - PAST_MS).toISOString();
  const body: Api["ListRequest"] = { orderBy: "UpdatedAt", skip: KEPT - 1, take: 1 };
  const signal = AbortSignal.any([leaving, AbortSignal.timeout(BEGINNING_MS)]);
  try {
    const page = await json<Api["InstancePage"]>("/workflow-instances/query", {
      method: "POST",
      body,
      signal,
    });
    const at = page.items[0]?.updatedAt;
    return at && Date.parse(at) > Date.parse(past) ? at : past;
  } catch {
    // The stream says itself when there is no connection.
    return past;
  }
}

/** Follows the events from the beginning of what the feed shows on. */
function begin(): () => void {
  const leaving = new AbortController();
  isHeard = undefined;
  become({ is: "connecting" });
  void beginning(leaving.signal).then((after) => {
    if (leaving.signal.aborted) return;
    const stop = follow({ path: "/events", query: { after }, onEvent: take, onState: become });
    leaving.signal.addEventListener("abort", stop);
  });
  return () => leaving.abort();
}

/**
 * One stream for the whole page. A tab that nobody saw for long begins anew, as what it missed may be more than
 * anybody can look at.
 */
export function startLive(): () => void {
  feed = [];
  pending = [];
  let stop = begin();
  let hiddenAt: number | undefined;
  const forget = onPresence(() => {
    if (presence() === "hidden") {
      hiddenAt ??= Date.now();
      return;
    }
    if (hiddenAt !== undefined && Date.now() - hiddenAt > AWAY_MS) {
      stop();
      stop = begin();
    }
    hiddenAt = undefined;
  });
  return () => {
    forget();
    stop();
    flush.stop();
  };
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export const useLiveState = (): LinkState => useSyncExternalStore(subscribe, () => state);
/** Whether the feed is what happened; `false` where the events could not be asked for, so far. */
export const useHeard = (): boolean | undefined => useSyncExternalStore(subscribe, () => isHeard);
export const useFeed = (): Happening[] => useSyncExternalStore(subscribe, () => feed);

/** Hears of events, the oldest first: of those that came together at once. */
export function onHappenings(listener: (events: Happening[]) => void): () => void {
  eventListeners.add(listener);
  return () => void eventListeners.delete(listener);
}

/**
 * Reads again what the key names when something happens that matters to it: at once, then at most once in two
 * seconds, and never while it is still being read.
 */
export function useLiveReload(queryKey: QueryKey, matters?: (event: Happening) => boolean): void {
  const client = useQueryClient();
  const latest = useRef({ queryKey, matters });
  latest.current = { queryKey, matters };
  useEffect(() => {
    const reload = throttle(() => client.invalidateQueries({ queryKey: latest.current.queryKey }), RELOAD_MS);
    const stop = onHappenings((events) => {
      const { matters } = latest.current;
      if (!matters || events.some(matters)) reload();
    });
    return () => {
      stop();
      reload.stop();
    };
  }, [client]);
}
