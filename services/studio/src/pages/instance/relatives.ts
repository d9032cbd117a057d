import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { instancesQuery } from "../../api/queries";
import type { Api } from "../../api/types";
import { shortId } from "../../lib/format";
import { visible } from "../../lib/visible";
import { useDefinitionNames } from "../instances/names";

type Family = Pick<Api["Why"], "parent" | "children">;

/** The ids of the instance that started one, and of those that it started. */
export const idsIn = ({ parent, children }: Family): string[] =>
  [...(parent ? [parent] : []), ...children].map((one) => one.workflowInstanceId);

/** What these instances are called: by their own names, or as their definitions. */
export function namesIn(
  found: readonly Pick<Api["InstanceSummary"], "id" | "name" | "definitionId">[],
  definitions: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  return new Map(
    found.map((one) => [one.id, visible(one.name ?? definitions.get(one.definitionId) ?? one.definitionId)]),
  );
}

/** What the relatives of an instance are called; one of which nothing is known by its id. */
export function useRelativeNames(family: Family): (instance: string) => string {
  const ids = idsIn(family);
  const asked = { ids, page: 0, pageSize: Math.max(1, ids.length) };
  const found = useQuery({ ...instancesQuery(asked, ["relatives", ids]), enabled: ids.length > 0 }).data
    ?.items;
  const definitions = useDefinitionNames();
  return useMemo(() => {
    const names = namesIn(found ?? [], definitions);
    return (instance) => {
      const name = names.get(instance);
      return name ? `${name} ${shortId(instance)}` : shortId(instance);
    };
  }, [found, definitions]);
}
