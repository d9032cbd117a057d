import { useQueries } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { instancesQuery } from "../../api/queries";
import type { Api } from "../../api/types";
import { type InstanceFilter, toAddress, toRequest } from "../../lib/filters";

/** Rows are read in parts of this size, as far as one scrolls. */
export const PART = 100;

type Row = Api["InstanceSummary"];

/** The parts of a list that are seen, as one list with gaps. */
export function useInstanceRows(filter: InstanceFilter) {
  const [seen, setSeen] = useState<readonly [number, number]>([filter.page, filter.page]);
  // Where one is in the list does not change what is asked for.
  const asked = useMemo(() => ({ ...filter, page: 0 }), [filter]);
  const address = useMemo(() => toAddress(asked), [asked]);
  const parts = useMemo(() => {
    const [from, to] = seen;
    return [...new Set([0, ...Array.from({ length: to - from + 1 }, (_, at) => from + at)])];
  }, [seen]);
  const queries = useQueries({
    queries: parts.map((page) => ({
      ...instancesQuery(toRequest({ ...asked, page }, Date.now(), PART), [address, page]),
      placeholderData: undefined,
      staleTime: 5000,
    })),
  });
  const [head] = queries;
  const byPart = new Map(parts.map((part, at) => [part, queries[at]?.data?.items]));
  const rowAt = (at: number): Row | undefined => byPart.get(Math.floor(at / PART))?.[at % PART];
  const onRange = useCallback((first: number, last: number) => {
    const next = [Math.floor(first / PART), Math.floor(last / PART)] as const;
    setSeen((old) => (old[0] === next[0] && old[1] === next[1] ? old : next));
  }, []);
  const loaded = [...byPart.values()].flatMap((items) => items ?? []);
  const failed = queries.find((query) => query.error);
  return { head, failed, rowAt, loaded, onRange };
}
