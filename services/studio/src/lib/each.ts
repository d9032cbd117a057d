/** What became of things that were done one by one. */
export interface Ended {
  done: string[];
  /** Those that could not be done, and why the first of them could not. */
  left: string[];
  error?: unknown;
}

/** Does something with each of many: one that fails keeps none of the others from it. */
export async function doEach(ids: readonly string[], work: (id: string) => Promise<unknown>): Promise<Ended> {
  const ended: Ended = { done: [], left: [] };
  for (const id of ids) {
    try {
      await work(id);
      ended.done.push(id);
    } catch (error) {
      if (ended.left.length === 0) ended.error = error;
      ended.left.push(id);
    }
  }
  return ended;
}
