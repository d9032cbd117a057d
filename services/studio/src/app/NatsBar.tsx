import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useSyncExternalStore } from "react";
import { t } from "../text";
import { Icon } from "../ui/Icon";
import { Time } from "../ui/Time";
import { heldSince, NEEDED, type Needed, type Reach, reachesQuery } from "./nats";
import { errorOf, useNotBefore } from "./stale";

/** Says that one of them is not reached, and as of when that is what the page has from it. */
function Bar({ of, since }: { of: Needed; since: number | undefined }) {
  const words = t.live.lost[of];
  return (
    <p className="flex flex-wrap items-center gap-x-2 border-b border-faulted bg-raised px-4 py-1 text-sm">
      <Icon name="incidents" className="text-faulted" />
      <span className="min-w-0 flex-1">
        {words.is}{" "}
        {since === undefined ? (
          words.nothing
        ) : (
          <>
            {words.asOf} <Time at={new Date(since).toISOString()} stands />
          </>
        )}
      </span>
    </p>
  );
}

/** Asks again what failed while it was not reached. */
function useReturn(reach: Reach | undefined) {
  const client = useQueryClient();
  const wasLost = useRef(false);
  useEffect(() => {
    if (reach === "lost") wasLost.current = true;
    if (reach !== "reached" || !wasLost.current) return;
    wasLost.current = false;
    void client.refetchQueries({ type: "active", predicate: (query) => Boolean(errorOf(query)) });
  }, [reach, client]);
}

/** Says that NATS or the database is not reached. */
export function NatsBar() {
  const cache = useQueryClient().getQueryCache();
  const reaches = useQuery(reachesQuery).data;
  const subscribe = useCallback((listener: () => void) => cache.subscribe(listener), [cache]);
  const found = useSyncExternalStore(subscribe, () => {
    const active = cache.getAll().filter((query) => query.isActive());
    return heldSince(active.map((query) => ({ at: query.state.dataUpdatedAt, error: errorOf(query) })));
  });
  const since = useNotBefore(found);
  useReturn(reaches?.nats);
  useReturn(reaches?.database);
  return (
    <div role="status">
      {NEEDED.map((one) => reaches?.[one] === "lost" && <Bar key={one} of={one} since={since} />)}
    </div>
  );
}
