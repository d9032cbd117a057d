import type { Api } from "../../api/types";
import { isClusterPaused, pausedNodes } from "../../lib/pauses";
import { t } from "../../text";

/** What goes on after the pause of a node has ended, or that of the cluster, and what is still paused. */
export function resumed(
  node: string | undefined,
  { nodes, pauses }: Pick<Api["RuntimeStatus"], "nodes" | "pauses">,
): string {
  const still = pausedNodes(pauses);
  if (node === undefined)
    return still.length === 0 ? t.cluster.resumed(t.cluster.all) : t.cluster.resumedOthers(still);
  if (isClusterPaused(pauses)) return t.cluster.pauseOver(node, [t.cluster.all, ...still]);
  const isThere = nodes.some((one) => one.node === node);
  return isThere ? t.cluster.resumed(node, still) : t.cluster.pauseOver(node, still);
}
