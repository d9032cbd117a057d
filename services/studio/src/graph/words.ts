import { queryOptions, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { get } from "../api/client";
import { can } from "../api/session";
import { typeName } from "../lib/format";
import { type ActivityType, Types } from "../model/descriptors";
import { isSame as isSameJson, type Json } from "../model/json";

/** What a type of activities is called. */
export type TypeWords = (type: string, version?: unknown) => string;

/** Whether the server said the same: then nothing is made anew of it. */
export const isSameTypes = (was: Types, now: Types): boolean =>
  isSameJson(was.all as unknown as Json, now.all as unknown as Json);

/** What the server says about the types of activities. */
export const activityTypesQuery = queryOptions({
  queryKey: ["descriptors", "activities"],
  queryFn: async ({ signal }) =>
    new Types((await get<{ items: ActivityType[] }>("/descriptors/activities", undefined, signal)).items),
  staleTime: 60_000,
  structuralSharing: (was, now) =>
    was instanceof Types && now instanceof Types && isSameTypes(was, now) ? was : now,
  refetchOnWindowFocus: false,
});

/** The words of the server; a type that it does not have is called by its name. */
export const typeWordsOf =
  (types: Types | undefined): TypeWords =>
  (type, version) =>
    types?.get(type, version as Json | undefined)?.displayName || typeName(type);

/** The words of the designer for types, on the other pages. */
export function useTypeWords(): TypeWords {
  const types = useQuery({ ...activityTypesQuery, enabled: can("read:activity-descriptors") }).data;
  return useMemo(() => typeWordsOf(types), [types]);
}
