import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { id, post } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { isObject } from "../../lib/json";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { notify } from "../../ui/notices";
import { Shown } from "../../ui/States";
import { useDefinitionNames } from "../instances/names";
import { usersQuery } from "./Users";

/** The definitions that a workflow names: as its activities, or to dispatch or execute them. */
export function usesOf(root: unknown): string[] {
  const found = new Set<string>();
  const look = (value: unknown): void => {
    if (Array.isArray(value)) for (const one of value) look(one);
    else if (isObject(value)) {
      if (typeof value.workflowDefinitionId === "string") found.add(value.workflowDefinitionId);
      else if (isObject(value.workflowDefinitionId)) {
        const expression = value.workflowDefinitionId.expression;
        if (isObject(expression) && expression.type === "Literal" && typeof expression.value === "string") {
          found.add(expression.value);
        }
      }
      for (const one of Object.values(value)) look(one);
    }
  };
  look(root);
  return [...found];
}

/** Definitions by their names; the id is beside the name. */
function List({ title, ids, nothing }: { title: string; ids: string[]; nothing: string }) {
  const names = useDefinitionNames();
  return (
    <section>
      <h2 className="border-y border-line bg-sunken px-4 py-1 text-xs font-medium text-soft">{title}</h2>
      {ids.length === 0 && <p className="px-4 py-2 text-sm text-soft">{nothing}</p>}
      <ul>
        {ids.map((one) => (
          <li key={one} className="border-b border-line/60 px-4 py-1.5 text-sm last:border-0">
            <Link to="/definitions/$id" params={{ id: one }} className="link">
              {names.get(one) ?? one}
            </Link>
            {(names.get(one) ?? one) !== one && (
              <code className="ml-2 font-mono text-xs break-all text-soft">{one}</code>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

export function References({ definition }: { definition: Api["FullDefinition"] }) {
  const client = useQueryClient();
  const path = `/workflow-definitions/${id(definition.definitionId)}`;
  const query = useQuery(usersQuery(definition.definitionId));
  const [asked, setAsked] = useState(false);
  const update = async () => {
    const { affectedWorkflows } = await post<Api["ReferencesUpdated"]>(`${path}/update-references`, {});
    notify(t.definitions.referencesUpdated(affectedWorkflows.length));
    void client.invalidateQueries({ queryKey: ["definition"] });
  };
  return (
    <>
      <Shown query={query} rows={3}>
        {({ consumingWorkflowDefinitionIds: consumers, callingWorkflowDefinitionIds: callers }) => (
          <>
            <List
              title={t.definitions.usedBy}
              ids={[...consumers, ...callers]}
              nothing={t.definitions.unused}
            />
            {consumers.length > 0 && can("publish:workflow-definitions") && (
              <div className="px-4 py-2">
                <Button onClick={() => setAsked(true)}>{t.definitions.updateReferences}</Button>
                {asked && (
                  <Confirm
                    title={t.definitions.updateReferencesOf(consumers.length)}
                    verb={t.definitions.updateReferencesOf(consumers.length)}
                    act={update}
                    onClose={() => setAsked(false)}
                  >
                    <p>{t.definitions.updateReferencesNote}</p>
                  </Confirm>
                )}
              </div>
            )}
          </>
        )}
      </Shown>
      <List title={t.definitions.uses} ids={usesOf(definition.root)} nothing={t.definitions.usesNothing} />
    </>
  );
}
