import type { Query } from "@tanstack/react-query";
import { asProblem } from "../api/problem";

/** What passes by itself: nobody answers, too many requests, or the server lacks what it needs, such as its database. */
const PASSING = [0, 429, 502, 503, 504];
const FIRST_MS = 2000;
const LONGEST_MS = 10_000;

/** Whether the same request may succeed a moment later. */
export function passes(error: unknown): boolean {
  if (error === null || error === undefined) return false;
  const { status, request } = asProblem(error);
  return PASSING.includes(status) && request !== "";
}

type State = Pick<Query["state"], "status" | "dataUpdateCount" | "errorUpdateCount"> & { error: unknown };

/** How often a query had failed when its latest data came. */
const before = new WeakMap<object, { data: number; errors: number }>();

/**
 * When a query that failed is asked again, or `false`: after two seconds, then ever later, at most ten seconds. It stops
 * with the first answer, and where another try would be refused as well.
 */
export function againIn(query: { state: State }): number | false {
  const { status, error, dataUpdateCount, errorUpdateCount } = query.state;
  const known = before.get(query);
  if (known?.data !== dataUpdateCount)
    before.set(query, { data: dataUpdateCount, errors: status === "success" ? errorUpdateCount : 0 });
  if (status !== "error" || !passes(error)) return false;
  const failures = errorUpdateCount - (before.get(query)?.errors ?? 0);
  return Math.min(FIRST_MS * 2 ** Math.max(0, failures - 1), LONGEST_MS);
}
