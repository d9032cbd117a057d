import { useLocation, useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import type { Search } from "../lib/filters";

export function parseSearch(text: string): Search {
  return Object.fromEntries(new URLSearchParams(text));
}

export function stringifySearch(search: Record<string, unknown>): string {
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (value !== undefined && value !== null && value !== "") all.set(name, String(value));
  }
  const text = all.toString();
  return text ? `?${text}` : "";
}

/** The page of the list that is shown, and a way to another; each is a step of the browser's history. */
export function usePage(): [number, (page: number) => void] {
  const [search, change] = useAddress();
  return [pageOf(search), (page) => change({ page: page > 0 ? String(page) : undefined }, true)];
}

/** The page that an address names. */
export const pageOf = (search: Search): number =>
  /^\d{1,9}$/.test(search.page ?? "") ? Number(search.page) : 0;

/** The address is the state: reads what stands after `?`, and changes parts of it. */
export function useAddress(): [Search, (change: Search, keep?: boolean) => void] {
  const text = useLocation({ select: (location) => location.searchStr });
  const navigate = useNavigate();
  const search = useMemo(() => parseSearch(text), [text]);
  const change = useCallback(
    (part: Search, keep = false) => {
      void navigate({
        to: ".",
        search: (old: Search) => ({ ...old, ...part }),
        replace: !keep,
        resetScroll: false,
      });
    },
    [navigate],
  );
  return [search, change];
}
