import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { id } from "../../api/client";
import { follow, type LinkState } from "../../api/sse";

/**
 * Follows the journal of an instance from this line on, until it is over; what is shown is read again, at most four
 * times a second.
 */
export function useInstanceLive(instance: string, last: number | undefined, over: boolean): LinkState {
  const client = useQueryClient();
  const [state, setState] = useState<LinkState>({ is: "connecting" });
  const known = last !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the stream begins once, at the line that is known then
  useEffect(() => {
    if (!known) return;
    if (over) return setState({ is: "idle" });
    const reload = () => void client.invalidateQueries({ queryKey: ["instance", instance] });
    let due: ReturnType<typeof setTimeout> | undefined;
    const stop = follow({
      path: `/workflow-instances/${id(instance)}/events`,
      query: { after: String(last) },
      onState: setState,
      onEvent: () => {
        due ??= setTimeout(() => {
          due = undefined;
          reload();
        }, 250);
      },
    });
    return () => {
      clearTimeout(due);
      stop();
      // A part of what is shown may be older than the answer that says that the instance is over.
      reload();
    };
  }, [instance, known, over, client]);
  return state;
}
