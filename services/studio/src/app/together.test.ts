import { QueryClient } from "@tanstack/react-query";
import { beforeEach, expect, it, vi } from "vitest";

const kept = new Map<string, string>();
vi.stubGlobal("sessionStorage", {
  getItem: (name: string) => kept.get(name) ?? null,
  setItem: (name: string, value: string) => kept.set(name, value),
  removeItem: (name: string) => kept.delete(name),
});
const reload = vi.fn();
vi.stubGlobal("location", { pathname: "/studio/", reload });

const { get } = await import("../api/client");
const { session } = await import("../api/session");
const { tabs } = await import("../api/tabs");
const { shareSession, takeSession } = await import("./together");
const { holdUnsaved } = await import("./unsaved");
const { ROOT } = await import("../api/base");

const ADA = { kind: "user" as const, name: "ada", access: "h.e30.s", refresh: "r" };
const other = new BroadcastChannel(`staunch.session ${ROOT}`);
shareSession(new QueryClient());

beforeEach(() => {
  kept.clear();
  reload.mockReset();
  other.onmessage = null;
  session.set({ kind: "none" });
});

const answerWith = (answer: unknown) => {
  other.onmessage = ({ data }: MessageEvent<{ is: string; from: string }>) => {
    if (data.is === "ask") other.postMessage({ is: "answer", to: data.from, session: answer });
  };
};

it("a new tab takes the session of another one", async () => {
  answerWith(ADA);
  await takeSession();
  expect(session.current()).toEqual(ADA);
});

it("a tab in which somebody has signed out takes none", async () => {
  answerWith(ADA);
  session.leave();
  await takeSession();
  expect(session.current()).toEqual({ kind: "none" });
  session.set(ADA);
  expect(session.hasLeft()).toBe(false);
});

it("signing out in another tab ends this one, too, and nothing is left in its store", async () => {
  session.set(ADA);
  other.postMessage({ is: "out", person: "user ada" });
  await vi.waitFor(() => expect(reload).toHaveBeenCalledOnce());
  expect(session.current()).toEqual({ kind: "none" });
  expect(kept.get("staunch.session")).toBeUndefined();
  expect(await tabs.ask("user ada")).toBeUndefined();
});

it("what is not saved stays for the same person, without its tokens", async () => {
  session.set(ADA);
  const forget = holdUnsaved(() => ({ name: "w" }));
  other.postMessage({ is: "out", person: "user ada" });
  await vi.waitFor(() => expect(session.isRefused()).toBe(true));
  expect(reload).not.toHaveBeenCalled();
  expect(session.current()).toEqual({ ...ADA, access: "", refresh: "" });
  expect(kept.get("staunch.session")).toBeUndefined();
  // Once she has signed in again in another tab, this one goes on.
  other.postMessage({ is: "renewed", session: ADA });
  await vi.waitFor(() => expect(session.isRefused()).toBe(false));
  forget();
});

it("a tab that slept takes the tokens that another one has got, and uses no old one again", async () => {
  const token = (exp: number) => `h.${btoa(JSON.stringify({ exp }))}.s`;
  const inAnHour = Math.floor(Date.now() / 1000) + 3600;
  const newer = { ...ADA, access: token(inAnHour), refresh: "r2" };
  session.set({ ...ADA, access: token(1) });
  answerWith(newer);
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (path: string, { headers }: { headers: Headers }) => {
    asked.push(`${path} ${headers.get("Authorization")}`);
    const isNew = headers.get("Authorization") === `Bearer ${newer.access}`;
    return new Response("{}", { status: isNew ? 200 : 401 });
  });
  await get("/nodes");
  expect(asked).toEqual([`/elsa/api/nodes Bearer ${token(1)}`, `/elsa/api/nodes Bearer ${newer.access}`]);
  expect(session.current()).toEqual(newer);
});
