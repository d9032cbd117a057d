import type { Api } from "../api/types";

/** What is removed, and what is still to be removed. */
export interface Removed {
  done: number;
  left: number;
}

/**
 * Removes what a filter selects, some at a time, as the server does, and tells how far it is. It ends when
 * nothing is left, when a call removes nothing, or when it is stopped.
 */
export async function removeAll(
  send: () => Promise<Api["FilteredDeletions"]>,
  tell: (removed: Removed) => void,
  isStopped: () => boolean,
): Promise<Removed> {
  let removed: Removed = { done: 0, left: 0 };
  while (!isStopped()) {
    const { deleted, remaining } = await send();
    removed = { done: removed.done + deleted, left: remaining };
    tell(removed);
    if (deleted === 0 || remaining === 0) break;
  }
  return removed;
}
