import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useSyncExternalStore } from "react";
import { t } from "../text";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Time } from "../ui/Time";
import { useNow } from "./clock";
import { useLiveState } from "./live";
import { errorOf, isGone, staleSince, useNotBefore } from "./stale";

/** Asks again what found nobody. */
const askAgain = (client: QueryClient) =>
  client.refetchQueries({ type: "active", predicate: (query) => isGone(errorOf(query)) });

/** Says as of when a page is whose server does not answer. */
export function StaleBar() {
  const client = useQueryClient();
  const now = useNow();
  const live = useLiveState();
  const brokenAt = useRef<number>(undefined);
  if (live.is === "broken") brokenAt.current ??= Date.now();
  else if (live.is !== "connecting") brokenAt.current = undefined;
  const cache = client.getQueryCache();
  const subscribe = useCallback((listener: () => void) => cache.subscribe(listener), [cache]);
  const found = useSyncExternalStore(subscribe, () => {
    const active = cache.getAll().filter((query) => query.isActive());
    const answers = active.map((query) => ({ at: query.state.dataUpdatedAt, error: errorOf(query) }));
    return staleSince(answers, now, brokenAt.current);
  });
  const since = useNotBefore(found);
  const isOpen = live.is === "open";
  useEffect(() => {
    if (isOpen) void askAgain(client);
  }, [isOpen, client]);
  return (
    <div role="status">
      {since !== undefined && (
        <p className="flex flex-wrap items-center gap-x-2 border-b border-waiting bg-raised px-4 py-1 text-sm">
          <Icon name="clock" className="text-waiting" />
          <span className="flex-1">
            {t.live.gone} {t.live.asOf} <Time at={new Date(since).toISOString()} stands />
          </span>
          <Button tone="quiet" icon="refresh" onClick={() => void askAgain(client)}>
            {t.tryAgain}
          </Button>
        </p>
      )}
    </div>
  );
}
