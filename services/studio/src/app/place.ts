import { useLocation } from "@tanstack/react-router";
import { useSyncExternalStore } from "react";

let moved: string | undefined;
const listeners = new Set<() => void>();

/** A page that has another path now, of which the router was not told: it would open the page anew. */
export const place = {
  current: () => moved,
  move(path: string | undefined) {
    if (path === moved) return;
    moved = path;
    for (const listener of listeners) listener();
  },
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};

/** The path of the page, without the address of Studio. */
export function usePlace(): string {
  const path = useLocation({ select: (location) => location.pathname });
  return useSyncExternalStore(place.subscribe, place.current) ?? path;
}
