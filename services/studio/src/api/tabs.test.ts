import { afterEach, beforeEach, expect, test, vi } from "vitest";

vi.stubGlobal("sessionStorage", {
  getItem: () => null,
  setItem: () => undefined,
  removeItem: () => undefined,
});
const { chosenOf, connect } = await import("./tabs");
const { personOf } = await import("./session");
type Session = Parameters<typeof personOf>[0];
type Channel = Parameters<typeof connect>[0];

const NONE: Session = { kind: "none" };
const user = (name: string, exp = 1): Session => ({
  kind: "user",
  name,
  access: `h.${btoa(JSON.stringify({ exp }))}.s`,
  refresh: `r${exp}`,
});

/** Tabs of one browser: what one says, all others hear a moment later. */
function browser() {
  const channels: Channel[] = [];
  return (session: Session, isRefused = false) => {
    const tab = { session, isRefused, adopted: 0, left: 0 };
    const channel: Channel = {
      onmessage: null,
      postMessage: (data: unknown) => {
        const others = channels.filter((one) => one !== channel) as BroadcastChannel[];
        for (const other of others)
          setTimeout(() => other.onmessage?.(new MessageEvent("message", { data: structuredClone(data) })));
      },
    };
    channels.push(channel);
    const tabs = connect(channel, {
      current: () => tab.session,
      isRefused: () => tab.isRefused,
      adopt: (next) => {
        tab.adopted += 1;
        tab.session = next;
      },
      leave: () => {
        tab.left += 1;
        tab.session = NONE;
      },
    });
    return Object.assign(tab, { tabs });
  };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function after<T>(promise: Promise<T>, milliseconds: number): Promise<T | "not yet"> {
  let end: T | "not yet" = "not yet";
  void promise.then((value) => {
    end = value;
  });
  await vi.advanceTimersByTimeAsync(milliseconds);
  return end;
}

test("a new tab gets the session of one that is open", async () => {
  const open = browser();
  open(user("ada"));
  expect(await after(open(NONE).tabs.ask(), 100)).toEqual(user("ada"));
});

test("a key is handed on, too", async () => {
  const open = browser();
  open({ kind: "key", key: "k1" });
  expect(await after(open(NONE).tabs.ask(), 100)).toEqual({ kind: "key", key: "k1" });
});

test("without an answer one waits for 300 ms, and no longer", async () => {
  const open = browser();
  open(NONE);
  open(user("ada"), true);
  const asked = open(NONE).tabs.ask();
  expect(await after(asked, 290)).toBe("not yet");
  expect(await after(asked, 10)).toBeUndefined();
});

test("where tabs are of two people, a new one takes neither", async () => {
  const open = browser();
  open(user("ada"));
  open(user("bob"));
  const third = open(NONE);
  expect(await after(third.tabs.ask(), 100)).toBeUndefined();
  expect(await after(third.tabs.ask(personOf(user("bob"))), 100)).toEqual(user("bob"));
});

test("of several sessions of one person, the one that counts longest is taken", () => {
  expect(chosenOf([user("ada", 5), user("ada", 9), user("ada", 7)])).toEqual(user("ada", 9));
  expect(chosenOf([])).toBeUndefined();
});

test("what one tab renews, the others of the same person have", async () => {
  const open = browser();
  const [one, same, other, out] = [
    open(user("ada", 1)),
    open(user("ada", 1)),
    open(user("bob", 1)),
    open(NONE),
  ];
  one.tabs.renewed(user("ada", 2));
  await vi.advanceTimersByTimeAsync(1);
  expect(same.session).toEqual(user("ada", 2));
  expect([other.adopted, out.adopted]).toEqual([0, 0]);
  // What comes late from a tab that slept is older.
  one.tabs.renewed(user("ada", 1));
  await vi.advanceTimersByTimeAsync(1);
  expect(same.session).toEqual(user("ada", 2));
});

test("signing out in one tab signs out the others of the same person, and nobody else", async () => {
  const open = browser();
  const [one, same, other] = [open(user("ada")), open(user("ada")), open(user("bob"))];
  one.session = NONE;
  one.tabs.out(personOf(user("ada")));
  await vi.advanceTimersByTimeAsync(1);
  expect([same.left, other.left]).toEqual([1, 0]);
  expect(await after(open(NONE).tabs.ask(personOf(user("ada"))), 400)).toBeUndefined();
});
