import { queryOptions, useQuery } from "@tanstack/react-query";
import { get, id } from "../../api/client";
import type { Api } from "../../api/types";
import { t } from "../../text";
import { Shown } from "../../ui/States";
import { useDefinitionNames } from "../instances/names";

/** The workflows that use a definition. */
export const usersQuery = (definition: string) =>
  queryOptions({
    queryKey: ["definition", definition, "consumers"],
    queryFn: ({ signal }) =>
      get<Api["Consumers"]>(`/workflow-definitions/${id(definition)}/consumers`, undefined, signal),
  });

function Named({ word, ids }: { word: string; ids: readonly string[] }) {
  const names = useDefinitionNames();
  if (ids.length === 0) return null;
  return (
    <div>
      <p>{word}</p>
      <ul className="list-disc pl-5">
        {ids.map((one) => (
          <li key={one} className="break-words">
            {names.get(one) ?? one}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** What still uses a definition that is to be retracted or deleted, and what becomes of that. */
export function Users({ definition, deed }: { definition: string; deed: "retract" | "delete" }) {
  const query = useQuery({ ...usersQuery(definition), staleTime: 0 });
  const { runBy, startedBy } = t.definitions;
  return (
    <Shown query={query} rows={1}>
      {({ consumingWorkflowDefinitionIds: consumers, callingWorkflowDefinitionIds: callers }) => (
        <div className="space-y-2">
          <Named word={runBy[deed]} ids={consumers} />
          <Named word={startedBy} ids={callers} />
        </div>
      )}
    </Shown>
  );
}
