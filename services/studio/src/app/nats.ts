import { queryOptions } from "@tanstack/react-query";
import { get } from "../api/client";
import { asProblem, Problem } from "../api/problem";
import type { Api } from "../api/types";
import { isObject } from "../lib/json";
import type { Answer } from "./stale";

export type Reach = "reached" | "lost" | "unknown";

/** Whether the node that answers reaches NATS, by the checks that it says it has made. */
export function reachOf(checks: unknown): Reach {
  const all: readonly unknown[] = Array.isArray(checks) ? checks : [];
  const check = all.find((one) => isObject(one) && one.name === "nats");
  if (!isObject(check)) return "unknown";
  return check.status === "Unhealthy" ? "lost" : "reached";
}

/** The time as of which that is what NATS holds: of the oldest answer that could not be renewed. */
export function heldSince(answers: readonly Answer[]): number | undefined {
  const failing = answers.filter(({ at, error }) => {
    if (at === 0 || error === null || error === undefined) return false;
    return asProblem(error).status === 503;
  });
  return failing.length > 0 ? Math.min(...failing.map(({ at }) => at)) : undefined;
}

/** Asks the node that answers whether it reaches NATS. A node that is not ready says why. */
export const reachQuery = queryOptions({
  queryKey: ["reach"],
  queryFn: async ({ signal }): Promise<Reach> => {
    try {
      return reachOf((await get<Api["Ready"]>("/health/ready", undefined, signal)).checks);
    } catch (error) {
      if (error instanceof Problem && error.status === 503) return reachOf(error.body.checks);
      throw error;
    }
  },
  refetchInterval: ({ state }) => (state.data === "lost" ? 2000 : 5000),
});
