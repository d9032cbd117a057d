import { describe, expect, it, vi } from "vitest";
import { type Removed, removeAll } from "./removal";

/** A server with this many instances, which removes at most `part` of them in one call. */
function serverOf(count: number, part: number) {
  let left = count;
  return vi.fn(async () => {
    const deleted = Math.min(part, left);
    left -= deleted;
    return { deleted, remaining: left };
  });
}

describe("removeAll", () => {
  it("goes on until nothing is left, and tells how far it is", async () => {
    const send = serverOf(600, 250);
    const told: Removed[] = [];
    const removed = await removeAll(
      send,
      (one) => told.push(one),
      () => false,
    );
    expect(removed).toEqual({ done: 600, left: 0 });
    expect(told).toEqual([
      { done: 250, left: 350 },
      { done: 500, left: 100 },
      { done: 600, left: 0 },
    ]);
  });

  it("ends where a call removes nothing", async () => {
    const send = vi.fn(async () => ({ deleted: 0, remaining: 3 }));
    expect(
      await removeAll(
        send,
        () => undefined,
        () => false,
      ),
    ).toEqual({ done: 0, left: 3 });
    expect(send).toHaveBeenCalledTimes(1);
  });

  it("stops between two calls", async () => {
    const send = serverOf(600, 250);
    let isStopped = false;
    const tell = () => {
      isStopped = true;
    };
    expect(await removeAll(send, tell, () => isStopped)).toEqual({ done: 250, left: 350 });
    expect(send).toHaveBeenCalledTimes(1);
  });
});
