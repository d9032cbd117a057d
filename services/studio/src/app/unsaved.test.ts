import { beforeEach, expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", {
  getItem: () => null,
  setItem: () => undefined,
  removeItem: () => undefined,
});
const { session } = await import("../api/session");
const { holdUnsaved, lostTo } = await import("./unsaved");

const user = (name: string) => ({ kind: "user", name, access: "a", refresh: "r" }) as const;
const work = { name: "Orders" };

beforeEach(() => session.set(user("ada")));

it("what is not saved is lost to somebody else alone, as long as the page is open", () => {
  const leave = holdUnsaved(() => work);
  expect(lostTo({ ...user("ada"), access: "new" })).toBeUndefined();
  expect(lostTo(user("bob"))).toBe(work);
  expect(lostTo({ kind: "key", key: "k" })).toBe(work);
  expect(lostTo({ kind: "none" })).toBe(work);
  leave();
  expect(lostTo(user("bob"))).toBeUndefined();
});

it("a page that closes late takes nothing from the one that is open", () => {
  const leave = holdUnsaved(() => undefined);
  const last = holdUnsaved(() => work);
  leave();
  expect(lostTo(user("bob"))).toBe(work);
  last();
});
