import { useEffect, useState } from "react";
import type { Api } from "../../api/types";

/** A node that is not among the live ones any more, and when it was among them last. */
export interface Vanished {
  node: string;
  roles: readonly string[];
  lastSeen: number;
}

/** The nodes of the latest answer, and those that vanished from one answer to a later one. */
export interface Followed {
  live: readonly Api["NodeSeen"][];
  at: number;
  gone: readonly Vanished[];
}

/** Of those that vanished, the latest are kept. */
export const GONE_MAX = 20;

export const NONE: Followed = { live: [], at: 0, gone: [] };

/** The same after an answer of the server: one that comes back is not gone any more. */
export function followed(before: Followed, live: readonly Api["NodeSeen"][], at: number): Followed {
  if (at <= before.at) return before;
  const names = new Set(live.map(({ node }) => node));
  const left = before.live.filter(({ node }) => !names.has(node));
  const gone = [
    ...left.map(({ node, roles }) => ({ node, roles, lastSeen: before.at })),
    ...before.gone.filter(({ node }) => !names.has(node)),
  ];
  return { live, at, gone: gone.slice(0, GONE_MAX) };
}

/** The server forgets a node that dies: this page knows of it while it is open. */
let kept = NONE;

/** The nodes that vanished while this page was open, and a way to hide them. */
export function useVanished(nodes: Api["Nodes"] | undefined, at: number) {
  const [shown, setShown] = useState(kept);
  useEffect(() => {
    if (!nodes) return;
    kept = followed(kept, nodes.items, at);
    setShown(kept);
  }, [nodes, at]);
  const hide = (node: string) => {
    kept = { ...kept, gone: kept.gone.filter((one) => one.node !== node) };
    setShown(kept);
  };
  return { gone: shown.gone, hide };
}
