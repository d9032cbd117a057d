import { useQuery } from "@tanstack/react-query";
import { get } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";

const NONE: ReadonlyMap<string, string> = new Map();

/** The names of definitions by their ids, as many as one page of the API holds. */
export function useDefinitionNames(): ReadonlyMap<string, string> {
  const { data } = useQuery({
    queryKey: ["definitions", "names"],
    staleTime: 30_000,
    enabled: can("read:workflow-definitions"),
    queryFn: ({ signal }) =>
      get<Api["DefinitionPage"]>(
        "/workflow-definitions",
        { versionOptions: "Latest", pageSize: 1000 },
        signal,
      ),
    select: namesOf,
  });
  return data ?? NONE;
}

function namesOf(page: Api["DefinitionPage"]): ReadonlyMap<string, string> {
  return new Map(page.items.map((one) => [one.definitionId, one.name ?? one.definitionId]));
}
