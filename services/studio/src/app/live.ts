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

/** One stream for the whole page, from ten minutes ago on. */
export function startLive(): () => void {
  feed = [];
  return follow({
    path: "/events",
    query: { after: new Date(Date.now() - 600_000).toISOString() },
    onEvent: take,
    onState: (next) => {
      state = next;
      changed();
    },
  });
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
