import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { id } from "../../api/client";
import { follow, type LinkState } from "../../api/sse";
import { throttle } from "../../lib/throttle";

const RELOAD_MS = 250;

/**
 * Follows the journal of an instance from this line on, until it is over; what is shown is read again, at most four
 * times a second, and never while it is still being read.
 */
export function useInstanceLive(instance: string, last: number | undefined, over: boolean): LinkState {
  const client = useQueryClient();
  const [state, setState] = useState<LinkState>({ is: "connecting" });
  const known = last !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the stream begins once, at the line that is known then
  useEffect(() => {
    if (!known) return;
    if (over) return setState({ is: "idle" });
    const reload = () => client.invalidateQueries({ queryKey: ["instance", instance] });
    const soon = throttle(reload, RELOAD_MS);
    const stop = follow({
      path: `/workflow-instances/${id(instance)}/events`,
      query: { after: String(last) },
      onState(next) {
        setState(next);
        // The server has no such stream any more: the instance may be gone.
        if (next.is === "idle") soon();
      },
      onEvent: soon,
    });
    return () => {
      stop();
      soon.stop();
      // A part of what is shown may be older than the answer that says that the instance is over.
      void reload();
    };
  }, [instance, known, over, client]);
  return state;
}
