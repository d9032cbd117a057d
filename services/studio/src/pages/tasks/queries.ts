import { keepPreviousData, queryOptions, useQueries } from "@tanstack/react-query";
import { get } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";

export type Pool = Api["TaskPool"];
export type Worker = Api["TaskWorker"];
export type Type = Api["ActivityType"];

export const poolsQuery = queryOptions({
  queryKey: ["tasks", "pools"],
  queryFn: ({ signal }) => get<Api["Items_TaskPool"]>("/tasks/pools", undefined, signal),
  refetchInterval: 5000,
});

/** The tasks of one version of a type that a page of the panel shows. */
export const OPEN_SIZE = 20;

/** Who waits for the tasks of one version of a type. */
export const openQuery = (type: string, version: number, page: number) =>
  queryOptions({
    queryKey: ["tasks", "open", type, version, page],
    queryFn: ({ signal }) =>
      get<Api["OpenTasks"]>("/tasks", { type, version, page, pageSize: OPEN_SIZE }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  });

export const workersQuery = queryOptions({
  queryKey: ["tasks", "workers"],
  queryFn: ({ signal }) => get<Api["Items_TaskWorker"]>("/tasks/workers", undefined, signal),
  refetchInterval: 10_000,
});

export const typesQuery = queryOptions({
  queryKey: ["tasks", "types"],
  queryFn: ({ signal }) => get<Api["ActivityTypes"]>("/activity-types", undefined, signal),
  refetchInterval: 30_000,
});

/** Messages of tasks wait, and nobody works at them or asks for them. */
export const isIdle = ({ waiting, inProgress, asking }: Pool): boolean =>
  waiting > 0 && inProgress === 0 && asking === 0;

/** A pool, and for how many of its messages an instance still waits. */
export interface Counted extends Pool {
  /** Tasks that wait for a worker. */
  waiting: number;
  /** Messages of tasks that are done already, or not wanted any more: they wait in the stream as well. */
  done: number;
  /** It is not known yet whether somebody waits for them. */
  isAsking: boolean;
}

/**
 * Tells tasks that wait from messages that only wait in the stream, by the instances that wait for a task of this kind.
 * Without these, or where not all were counted, each message counts.
 */
export function countedOf(pool: Pool, open?: Api["OpenTasks"], isAsking = false): Counted {
  if (!open || open.isCutShort || open.totalCount >= pool.waiting) return { ...pool, done: 0, isAsking };
  const since = open.items[0]?.since ?? null;
  return {
    ...pool,
    waiting: open.totalCount,
    done: pool.waiting - open.totalCount,
    oldest: since,
    oldestWaiting: since,
    isAsking,
  };
}

/** Tasks wait, and nobody works at them or asks for them. */
export const isUntaken = (pool: Counted): boolean => !pool.isAsking && isIdle(pool);

/** The pools, with those tasks counted that nobody takes: a worker takes its messages out of the stream by itself. */
export function useCounted(pools: readonly Pool[]): Counted[] {
  const mayAsk = can("read:workflow-instances");
  const opens = useQueries({
    queries: pools.map((pool) => ({
      // Another number of messages asks anew: what is new has somebody who waits for it.
      queryKey: ["tasks", "open", pool.taskType, pool.version, "first", pool.waiting],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        get<Api["OpenTasks"]>(
          "/tasks",
          { type: pool.taskType, version: pool.version, page: 0, pageSize: 1 },
          signal,
        ),
      enabled: mayAsk && isIdle(pool),
      placeholderData: keepPreviousData<Api["OpenTasks"]>,
      refetchInterval: 15_000,
    })),
  });
  return pools.map((pool, at) => countedOf(pool, opens[at]?.data, opens[at]?.isLoading));
}

/** A version of a type as commands and the address name it. */
export const labelOf = (type: string, version: number): string => `${type}@${version}`;

/** The type and the version of a label; a type itself may have the sign. */
export function readLabel(label: string): { type: string; version: number } | undefined {
  const found = /^(.+)@(\d{1,9})$/s.exec(label);
  return found?.[1] ? { type: found[1], version: Number(found[2]) } : undefined;
}
