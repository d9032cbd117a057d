import { API, type Query, ROOT, withQuery } from "./base";
import { problemOf, unreachable } from "./problem";
import { authorization, expiryOf, personOf, session } from "./session";
import { tabs } from "./tabs";
import type { Api } from "./types";

export interface Call {
  method?: string;
  query?: Query;
  body?: unknown;
  /** A body that is text already: JSON, unless the headers have another type. */
  text?: string;
  form?: FormData;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

export function address(path: string, query: Query = {}): string {
  const base = path.startsWith("/health") || path.startsWith("/metrics") ? ROOT : API;
  return base + withQuery(path, query);
}

function headersOf(call: Call): Headers {
  const headers = new Headers(call.headers);
  const credentials = authorization();
  if (credentials && !headers.has("Authorization")) headers.set("Authorization", credentials);
  const hasBody = call.body !== undefined || call.text !== undefined;
  if (hasBody && !headers.has("Content-Type")) headers.set("Content-Type", "application/json");
  if (!headers.has("Accept")) headers.set("Accept", "application/json");
  return headers;
}

async function once(path: string, call: Call): Promise<Response> {
  const method = call.method ?? "GET";
  try {
    return await fetch(address(path, call.query), {
      method,
      headers: headersOf(call),
      body: call.form ?? call.text ?? (call.body === undefined ? undefined : JSON.stringify(call.body)),
      signal: call.signal,
    });
  } catch (error) {
    if (call.signal?.aborted) throw error;
    throw unreachable(`${method} ${path}`);
  }
}

let refreshing: Promise<boolean> | undefined;

/**
 * Takes the tokens that another tab has got meanwhile, while this one slept; true if they still count. A token that was
 * used before would end the session in all tabs.
 */
async function taken(): Promise<boolean> {
  const before = session.current();
  const shared = await tabs.ask(personOf(before));
  if (shared?.kind !== "user" || session.current() !== before) return session.current() !== before;
  if (expiryOf(shared) <= expiryOf(before)) return false;
  session.set(shared);
  return expiryOf(shared) > Date.now();
}

/** Gets the next tokens; several requests that find theirs too old wait for the same answer. */
function refresh(): Promise<boolean> {
  refreshing ??= (async () => {
    if (session.current().kind !== "user") return false;
    if (await taken()) return true;
    const now = session.current();
    if (now.kind !== "user") return false;
    const answer = await once("/identity/refresh-token", {
      method: "POST",
      headers: { Authorization: `Bearer ${now.refresh}` },
    });
    // Meanwhile another session may have begun.
    if (!answer.ok) return session.current() !== now;
    const next = (await answer.json()) as Api["LoginAnswer"];
    if (!next.accessToken || !next.refreshToken) return false;
    session.set({ ...now, access: next.accessToken, refresh: next.refreshToken });
    tabs.renewed(session.current());
    return true;
  })().finally(() => {
    refreshing = undefined;
  });
  return refreshing;
}

const ME = "/identity/me";
let learning: Promise<void> | undefined;

/** Asks once more what one may do: what was refused is offered no longer. */
function learn(): Promise<void> {
  learning ??= (async () => {
    const answer = await once(ME, {});
    if (answer.ok) session.learn(((await answer.json()) as Api["Me"]).permissions);
  })()
    .catch(() => undefined)
    .finally(() => {
      learning = undefined;
    });
  return learning;
}

/**
 * Sends a request. An answer of 401 asks for new tokens once, then for a login: until somebody has signed in,
 * later requests wait. What one person wanted to change is not done in the name of another.
 */
export async function send(path: string, call: Call = {}): Promise<Response> {
  const request = `${call.method ?? "GET"} ${path}`;
  const before = session.current();
  if (session.isRefused()) await session.accepted(call.signal);
  if (call.method && call.method !== "GET" && personOf(before) !== personOf(session.current()))
    throw problemOf(401, request, "");
  let answer = await once(path, call);
  if (answer.status === 401 && (await refresh())) answer = await once(path, call);
  if (answer.status === 401) session.refuse();
  if (answer.status === 403) void learn();
  if (!answer.ok) {
    const trace = answer.headers.get("traceparent") ?? undefined;
    throw problemOf(answer.status, request, await answer.text(), trace);
  }
  return answer;
}

export async function json<T>(path: string, call: Call = {}): Promise<T> {
  const answer = await send(path, call);
  const text = await answer.text();
  return (text ? JSON.parse(text) : undefined) as T;
}

export const get = <T>(path: string, query?: Query, signal?: AbortSignal) => json<T>(path, { query, signal });
export const post = <T>(path: string, body?: unknown, query?: Query) =>
  json<T>(path, { method: "POST", body, query });
export const put = <T>(path: string, body?: unknown) => json<T>(path, { method: "PUT", body });
export const del = (path: string) => json<void>(path, { method: "DELETE" });

/** A part of a path: ids may have any character. */
export const id = encodeURIComponent;

export async function login(username: string, password: string): Promise<boolean> {
  const answer = await once("/identity/login", {
    method: "POST",
    body: { username, password },
    headers: { Authorization: "" },
  });
  if (!answer.ok) throw problemOf(answer.status, "POST /identity/login", await answer.text());
  const said = (await answer.json()) as Api["LoginAnswer"];
  if (!said.isAuthenticated || !said.accessToken || !said.refreshToken) return false;
  session.set({ kind: "user", name: username, access: said.accessToken, refresh: said.refreshToken });
  tabs.renewed(session.current());
  return true;
}

/** Gives the user who is signed in another password. All its sessions end: this tab goes on in a new one. */
export async function changePassword(currentPassword: string, newPassword: string): Promise<void> {
  const who = session.current();
  if (who.kind !== "user") return;
  await send("/identity/password", {
    method: "POST",
    body: { username: who.name, currentPassword, newPassword },
    headers: { Authorization: "" },
  });
  // A request whose tokens are refused from now on waits for those of the new session.
  const isIn = login(who.name, newPassword).catch(() => false);
  refreshing = isIn.finally(() => {
    refreshing = undefined;
  });
  if (!(await isIn)) session.refuse();
}

/** Saves what a route answers as a file. */
export async function download(path: string, fallback: string, call: Call = {}): Promise<void> {
  const answer = await send(path, call);
  const named = /filename="?([^";]+)"?/.exec(answer.headers.get("Content-Disposition") ?? "");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = named?.[1] ?? fallback;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
