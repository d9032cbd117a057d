import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { id } from "../../api/client";
import { follow, type LinkState } from "../../api/sse";

/** Follows the journal of an instance; what is shown is read again, at most four times a second. */
export function useInstanceLive(instance: string, last: number | undefined): LinkState {
  const client = useQueryClient();
  const [state, setState] = useState<LinkState>({ is: "connecting" });
  const known = last !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the stream begins once, at the line that is known then
  useEffect(() => {
    if (!known) return;
    let due: ReturnType<typeof setTimeout> | undefined;
    const stop = follow({
      path: `/workflow-instances/${id(instance)}/events`,
      query: { after: String(last) },
      onState: setState,
      onEvent: () => {
        due ??= setTimeout(() => {
          due = undefined;
          void client.invalidateQueries({ queryKey: ["instance", instance] });
        }, 250);
      },
    });
    return () => {
      clearTimeout(due);
      stop();
    };
  }, [instance, known, client]);
  return state;
}
