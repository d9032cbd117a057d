import { API, ROOT } from "./base";
import { problemOf, unreachable } from "./problem";
import { authorization, session } from "./session";
import type { Api } from "./types";

export type Query = Record<string, string | number | boolean | string[] | undefined>;

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
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  const text = search.toString();
  const base = path.startsWith("/health") || path.startsWith("/metrics") ? ROOT : API;
  return base + path + (text ? `?${text}` : "");
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

/** Gets the next tokens; several requests that find theirs too old wait for the same answer. */
function refresh(): Promise<boolean> {
  refreshing ??= (async () => {
    const now = session.current();
    if (now.kind !== "user") return false;
    const answer = await once("/identity/refresh-token", {
      method: "POST",
      headers: { Authorization: `Bearer ${now.refresh}` },
    });
    if (!answer.ok) return false;
    const next = (await answer.json()) as Api["LoginAnswer"];
    if (!next.accessToken || !next.refreshToken) return false;
    session.set({ ...now, access: next.accessToken, refresh: next.refreshToken });
    return true;
  })().finally(() => {
    refreshing = undefined;
  });
  return refreshing;
}

/** Sends a request. An answer of 401 asks for new tokens once, then for a login. */
export async function send(path: string, call: Call = {}): Promise<Response> {
  let answer = await once(path, call);
  if (answer.status === 401 && (await refresh())) answer = await once(path, call);
  if (answer.status === 401) session.refuse();
  if (!answer.ok) {
    const trace = answer.headers.get("traceparent") ?? undefined;
    throw problemOf(answer.status, `${call.method ?? "GET"} ${path}`, await answer.text(), trace);
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
  return true;
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
