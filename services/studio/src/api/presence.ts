/**
 * A browser opens six connections to a server for all its tabs together, and each stream of events holds one.
 * So only one tab holds its streams: the one that was looked at last.
 */
export type Presence =
  /** The tab that was looked at last. */
  | "first"
  /** Another tab that can be seen: it asks from time to time. */
  | "other"
  /** A tab that cannot be seen asks nothing. */
  | "hidden";

/** A tab that comes back within this time keeps its streams. */
const LEAVING_MS = 5000;

let current: Presence = "first";
const listeners = new Set<() => void>();

export const presence = (): Presence => current;

export function onPresence(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function become(next: Presence): void {
  if (next === current) return;
  current = next;
  for (const listener of [...listeners]) listener();
}

/** Follows where the reader looks, in all tabs of this browser. */
export function watchPresence(): void {
  const tabs = new BroadcastChannel("staunch.presence");
  let since = 0;
  let leaving: ReturnType<typeof setTimeout> | undefined;
  const lead = () => {
    clearTimeout(leaving);
    since = Date.now();
    tabs.postMessage(since);
    become("first");
  };
  const look = () => {
    if (document.visibilityState === "visible") return lead();
    clearTimeout(leaving);
    leaving = setTimeout(() => become("hidden"), LEAVING_MS);
  };
  tabs.onmessage = ({ data }: MessageEvent<number>) => {
    if (current === "first" && data > since) become("other");
  };
  look();
  document.addEventListener("visibilitychange", look);
  window.addEventListener("focus", lead);
  // A page that the browser keeps for the way back has no events any more, and its streams would stay open.
  window.addEventListener("pagehide", () => {
    clearTimeout(leaving);
    become("hidden");
  });
  window.addEventListener("pageshow", look);
}
