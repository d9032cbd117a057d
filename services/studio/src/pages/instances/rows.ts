import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useRef, useState } from "react";
import { instancesQuery } from "../../api/queries";
import type { Api } from "../../api/types";
import { type InstanceFilter, toAddress, toRequest } from "../../lib/filters";
import { endOf, forget, learn, PART, type Part, placeOf, startTrail, type Trail } from "./trail";

type Row = Api["InstanceSummary"];

/** Where the parts of this list begin, as far as one has been there; another list begins anew. */
function useTrail(key: string, filter: InstanceFilter): Trail {
  const trail = useRef<Trail>(undefined);
  if (trail.current?.key !== key) trail.current = startTrail(key, filter);
  return trail.current;
}

/** The parts of a list that are seen, as one list with gaps. */
export function useInstanceRows(filter: InstanceFilter) {
  const client = useQueryClient();
  const [seen, setSeen] = useState<readonly [number, number]>([filter.page, filter.page]);
  // Where one is in the list does not change what is asked for.
  const asked = useMemo(() => ({ ...filter, page: 0, cursor: undefined, before: undefined }), [filter]);
  const address = useMemo(() => toAddress(asked), [asked]);
  const trail = useTrail(JSON.stringify(address), filter);
  const parts = useMemo(() => {
    const [from, to] = seen;
    return [...new Set([0, ...Array.from({ length: to - from + 1 }, (_, at) => from + at)])];
  }, [seen]);
  const queryOf = (part: number) =>
    instancesQuery(toRequest({ ...asked, page: part, cursor: trail.cursors.get(part) }, Date.now(), PART), [
      address,
      part,
    ]);
  const cached = (part: number): Part => [part, client.getQueryData(queryOf(part).queryKey)];
  learn(trail, parts.map(cached));
  const queries = useQueries({
    queries: parts.map((part) => ({
      ...queryOf(part),
      placeholderData: undefined,
      staleTime: 5000,
      // A part begins where the one before it ends; only a jump has to count the rows before it.
      enabled: part === 0 || trail.cursors.has(part) || !parts.includes(part - 1),
    })),
  });
  const [head] = queries;
  const pages = parts.map((part, at): Part => [part, queries[at]?.data]);
  const byPart = new Map(pages);
  const rowAt = (at: number): Row | undefined => byPart.get(Math.floor(at / PART))?.items[at % PART];
  const onRange = useCallback((first: number, last: number) => {
    const next = [Math.floor(first / PART), Math.floor(last / PART)] as const;
    setSeen((old) => (old[0] === next[0] && old[1] === next[1] ? old : next));
  }, []);
  const loaded = pages.flatMap(([, page]) => page?.items ?? []);
  const failed = queries.find(
    (query) => query.error || (query.isPending && query.errorUpdateCount > 0 && query.isFetching),
  );
  const count = endOf(trail, head?.data?.totalCount ?? 0, filter.page);
  const place = (part: number) => placeOf(trail, part);

  /** Reads what is seen again, each part after the one before it; what is not seen is forgotten. */
  const reload = async () => {
    client.removeQueries({ queryKey: ["instances"], type: "inactive" });
    forget(trail, parts);
    for (const part of [...parts].sort((one, other) => one - other)) {
      const page = await client.fetchQuery({ ...queryOf(part), staleTime: 0 });
      learn(trail, [[part, page]]);
    }
  };
  return { head, failed, rowAt, loaded, onRange, count, place, reload };
}
