import type { Query } from "@tanstack/react-query";
import { useRef } from "react";
import { asProblem } from "../api/problem";

/** What is known of a query: when its data came, and why its latest request failed. */
export interface Answer {
  at: number;
  error: unknown;
}

/** Why the latest request of a query failed, also while it is tried again. */
export const errorOf = ({ state }: Query): unknown => state.error ?? state.fetchFailureReason;

/** A connection is gone where nobody answers; a proxy says that the server behind it does not. */
const GONE = [502, 504];
/** Another node is tried within a second: a break that is over by then is none. */
export const PATIENCE_MS = 3000;

export function isGone(error: unknown): boolean {
  if (error === null || error === undefined) return false;
  const { status, request } = asProblem(error);
  return GONE.includes(status) || (status === 0 && request !== "");
}

/**
 * The time as of which the page is, where its data is not of now: a request found nobody, or the stream broke
 * and nothing was answered since.
 */
export function staleSince(answers: readonly Answer[], now: number, brokenAt?: number): number | undefined {
  const shown = answers.filter(({ at }) => at > 0);
  const failing = shown.filter(({ error }) => isGone(error));
  if (failing.length > 0) return Math.min(...failing.map(({ at }) => at));
  if (brokenAt === undefined || now - brokenAt < PATIENCE_MS || shown.length === 0) return undefined;
  const latest = Math.max(...shown.map(({ at }) => at));
  return latest < brokenAt ? latest : undefined;
}

/** The time that is said after the one that was said before: while it lasts, it does not go back. */
export const notBefore = (said: number | undefined, since: number | undefined): number | undefined =>
  since === undefined ? undefined : Math.max(said ?? since, since);

/** A time as of which a page is, which does not go back while the page is of an earlier time. */
export function useNotBefore(since: number | undefined): number | undefined {
  const said = useRef<number>(undefined);
  said.current = notBefore(said.current, since);
  return said.current;
}
