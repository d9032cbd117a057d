import { useQuery } from "@tanstack/react-query";
import { latestQuery } from "../../api/queries";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { visible } from "../../lib/visible";

const NONE: ReadonlyMap<string, string> = new Map();

/** The names of definitions by their ids, as many as one page of the API holds. */
export function useDefinitionNames(): ReadonlyMap<string, string> {
  const enabled = can("read:workflow-definitions");
  const { data } = useQuery({ ...latestQuery, enabled, select: namesOf });
  return data ?? NONE;
}

function namesOf(page: Api["DefinitionPage"]): ReadonlyMap<string, string> {
  return new Map(page.items.map((one) => [one.definitionId, visible(one.name ?? one.definitionId)]));
}
