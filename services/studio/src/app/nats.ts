import { queryOptions } from "@tanstack/react-query";
import { json } from "../api/client";
import { asProblem, Problem } from "../api/problem";
import type { Api } from "../api/types";
import { isObject } from "../lib/json";
import type { Answer } from "./stale";

export type Reach = "reached" | "lost" | "unknown";

/** What a node needs for its work, as its checks name it. */
export const NEEDED = ["nats", "database"] as const;
export type Needed = (typeof NEEDED)[number];
export type Reaches = Record<Needed, Reach>;

function reachOf(checks: readonly unknown[], name: Needed): Reach {
  const check = checks.find((one) => isObject(one) && one.name === name);
  if (!isObject(check)) return "unknown";
  return check.status === "Unhealthy" ? "lost" : "reached";
}

/** Whether the node that answers reaches NATS and the database, by the checks that it says it has made. */
export function reachesOf(checks: unknown): Reaches {
  const all: readonly unknown[] = Array.isArray(checks) ? checks : [];
  return { nats: reachOf(all, "nats"), database: reachOf(all, "database") };
}

/** The time as of which that is what they hold: of the oldest answer that could not be renewed. */
export function heldSince(answers: readonly Answer[]): number | undefined {
  const failing = answers.filter(({ at, error }) => {
    if (at === 0 || error === null || error === undefined) return false;
    return asProblem(error).status === 503;
  });
  return failing.length > 0 ? Math.min(...failing.map(({ at }) => at)) : undefined;
}

/**
 * Asks the node that answers whether it reaches NATS and the database. A node that is not ready says why, unless it has
 * to ask the database who asks: so nobody does.
 */
export const reachesQuery = queryOptions({
  queryKey: ["reach"],
  queryFn: async ({ signal }): Promise<Reaches> => {
    try {
      const headers = { Authorization: "" };
      return reachesOf((await json<Api["Ready"]>("/health/ready", { signal, headers })).checks);
    } catch (error) {
      if (error instanceof Problem && error.status === 503) return reachesOf(error.body.checks);
      throw error;
    }
  },
  refetchInterval: ({ state: { data } }) => (data && Object.values(data).includes("lost") ? 2000 : 5000),
});

/** Whether the node that answers reaches NATS. */
export const reachQuery = queryOptions({ ...reachesQuery, select: ({ nats }) => nats });
