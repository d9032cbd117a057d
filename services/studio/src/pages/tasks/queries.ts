import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { get } from "../../api/client";
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

/** Tasks wait, and nobody works at them or asks for them. */
export const isUntaken = ({ waiting, inProgress, asking }: Pool): boolean =>
  waiting > 0 && inProgress === 0 && asking === 0;

/** A version of a type as commands and the address name it. */
export const labelOf = (type: string, version: number): string => `${type}@${version}`;

/** The type and the version of a label; a type itself may have the sign. */
export function readLabel(label: string): { type: string; version: number } | undefined {
  const found = /^(.+)@(\d{1,9})$/s.exec(label);
  return found?.[1] ? { type: found[1], version: Number(found[2]) } : undefined;
}
