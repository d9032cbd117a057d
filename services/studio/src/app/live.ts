import { useSyncExternalStore } from "react";
import { follow, type LinkState, type ServerEvent } from "../api/sse";

export interface Happening {
  id: string;
  name: string;
  at: string;
  instanceId: string;
  definitionId: string;
}

const KEPT = 100;
let state: LinkState = { is: "idle" };
let feed: Happening[] = [];
const listeners = new Set<() => void>();
const eventListeners = new Set<(event: Happening) => void>();
let stop: (() => void) | undefined;

function changed(): void {
  for (const listener of listeners) listener();
}

function take(event: ServerEvent): void {
  if (!event.id) return;
  try {
    const data = JSON.parse(event.data) as Record<string, unknown>;
    const happening: Happening = {
      id: event.id,
      name: event.name,
      at: String(data.time ?? new Date().toISOString()),
      instanceId: String(data.workflowInstanceId ?? ""),
      definitionId: String(data.definitionId ?? ""),
    };
    feed = [happening, ...feed].slice(0, KEPT);
    for (const listener of eventListeners) listener(happening);
    changed();
  } catch {
    // An event of a newer server that is no JSON says nothing here.
  }
}

/** One connection for the whole page. It rests while nobody looks, and goes on after the last event. */
export function startLive(): () => void {
  let resting: ReturnType<typeof setTimeout> | undefined;
  const open = () => {
    stop ??= follow({
      path: "/events",
      query: { after: new Date(Date.now() - 600_000).toISOString() },
      onEvent: take,
      onState: (next) => {
        state = next;
        changed();
      },
    });
  };
  const close = () => {
    stop?.();
    stop = undefined;
  };
  const look = () => {
    clearTimeout(resting);
    if (document.visibilityState === "visible") open();
    else resting = setTimeout(close, 30_000);
  };
  look();
  document.addEventListener("visibilitychange", look);
  return () => {
    clearTimeout(resting);
    document.removeEventListener("visibilitychange", look);
    close();
  };
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export const useLiveState = (): LinkState => useSyncExternalStore(subscribe, () => state);
export const useFeed = (): Happening[] => useSyncExternalStore(subscribe, () => feed);

export function onHappening(listener: (event: Happening) => void): () => void {
  eventListeners.add(listener);
  return () => void eventListeners.delete(listener);
}
