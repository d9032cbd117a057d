import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useSyncExternalStore } from "react";
import { t } from "../text";
import { Icon } from "../ui/Icon";
import { Time } from "../ui/Time";
import { heldSince, reachQuery } from "./nats";
import { errorOf } from "./stale";

/** Says that NATS is not reached, and as of when that is what the page has from it. */
export function NatsBar() {
  const client = useQueryClient();
  const reach = useQuery(reachQuery).data;
  const cache = client.getQueryCache();
  const subscribe = useCallback((listener: () => void) => cache.subscribe(listener), [cache]);
  const since = useSyncExternalStore(subscribe, () => {
    const active = cache.getAll().filter((query) => query.isActive());
    return heldSince(active.map((query) => ({ at: query.state.dataUpdatedAt, error: errorOf(query) })));
  });
  const wasLost = useRef(false);
  useEffect(() => {
    if (reach === "lost") wasLost.current = true;
    if (reach !== "reached" || !wasLost.current) return;
    wasLost.current = false;
    void client.refetchQueries({ type: "active", predicate: (query) => Boolean(errorOf(query)) });
  }, [reach, client]);
  return (
    <div role="status">
      {reach === "lost" && (
        <p className="flex flex-wrap items-center gap-x-2 border-b border-faulted bg-raised px-4 py-1 text-sm">
          <Icon name="incidents" className="text-faulted" />
          <span className="min-w-0 flex-1">
            {t.live.natsLost}{" "}
            {since === undefined ? (
              t.live.natsNothing
            ) : (
              <>
                {t.live.natsAsOf} <Time at={new Date(since).toISOString()} stands />
              </>
            )}
          </span>
        </p>
      )}
    </div>
  );
}
