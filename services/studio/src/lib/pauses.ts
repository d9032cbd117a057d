import type { Api } from "../api/types";

type Status = Pick<Api["RuntimeStatus"], "nodes" | "pauses" | "state">;

/** Nothing that is started runs now: the cluster is paused, or each of its executors. */
export function isHalted({ state, pauses }: Pick<Status, "state" | "pauses">): boolean {
  return !state.isAcceptingNewWork && pauses.length > 0;
}

/** The whole cluster is paused, whatever pauses its nodes have. */
export const isClusterPaused = (pauses: Status["pauses"]): boolean => pauses.some(({ node }) => !node);

/** The nodes that have a pause of their own. */
export const pausedNodes = (pauses: Status["pauses"]): string[] =>
  pauses.flatMap(({ node }) => (node ? [node] : []));

/** What can be asked of a node: one that is paused by itself goes on by itself, whatever the cluster does. */
export function askable(node: string, pauses: Status["pauses"]): "pause" | "resume" {
  return pauses.some((pause) => pause.node === node) ? "resume" : "pause";
}
