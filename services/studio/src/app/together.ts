import type { QueryClient } from "@tanstack/react-query";
import { session } from "../api/session";
import { tabs, watchTabs } from "../api/tabs";
import { canSignIn } from "../api/ways";
import { lostTo } from "./unsaved";

/** Somebody has signed out in another tab. A page with unsaved work stays, for the same person. */
function leave(): void {
  if (lostTo({ kind: "none" })) {
    session.retire();
    return;
  }
  session.leave();
  location.reload();
}

/** Shares the session with the other tabs of this browser. */
export function shareSession(client: QueryClient): void {
  watchTabs({
    current: session.current,
    isRefused: session.isRefused,
    adopt(next) {
      const wasRefused = session.isRefused();
      session.set(next);
      if (wasRefused) void client.refetchQueries({ type: "active", stale: true });
    },
    leave,
  });
}

/** Takes the session of another tab, where this one is new and has none: a link opened beside it asks for no password. */
export async function takeSession(): Promise<void> {
  if (session.current().kind !== "none" || session.hasLeft() || !canSignIn()) return;
  const shared = await tabs.ask();
  if (shared && session.current().kind === "none") session.set(shared);
}
