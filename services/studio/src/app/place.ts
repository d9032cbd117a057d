import { useLocation } from "@tanstack/react-router";
import { useSyncExternalStore } from "react";

let moved: string | undefined;
let named: string | undefined;
const listeners = new Set<() => void>();

/** A page that has another path now, of which the router was not told: it would open the page anew. */
export const place = {
  current: () => moved,
  move(path: string | undefined) {
    if (path === moved) return;
    moved = path;
    for (const listener of listeners) listener();
  },
  name: () => named,
  /** What the page shows is called so: the bar above it has not read that itself. */
  call(name: string | undefined) {
    if (name === named) return;
    named = name;
    for (const listener of listeners) listener();
  },
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};

/** The name that the page gives to what it shows, if it gives one. */
export function usePlaceName(): string | undefined {
  return useSyncExternalStore(place.subscribe, place.name);
}

/** The path of the page, without the address of Studio. */
export function usePlace(): string {
  const path = useLocation({ select: (location) => location.pathname });
  return useSyncExternalStore(place.subscribe, place.current) ?? path;
}
