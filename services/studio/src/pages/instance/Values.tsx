import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { get, id, post } from "../../api/client";
import { asProblem } from "../../api/problem";
import { variablesQuery } from "../../api/queries";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { readJson } from "../../lib/json";
import { canChange } from "../../lib/states";
import { visible } from "../../lib/visible";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { CopyCommands, pretty } from "../../ui/Code";
import { TextArea } from "../../ui/Field";
import { notify } from "../../ui/notices";
import { Shown } from "../../ui/States";
import { Value } from "../../ui/Value";
import { variableBody, variableLines } from "./lines";

function Group({
  title,
  note,
  values,
  edit,
}: {
  title: string;
  note?: string;
  values: Record<string, unknown>;
  edit?: (name: string) => void;
}) {
  const entries = Object.entries(values);
  return (
    <section>
      <h2 className="border-y border-line bg-sunken px-4 py-1 text-xs font-medium text-soft">{title}</h2>
      {note && <p className="px-4 py-2 text-sm text-soft">{note}</p>}
      {entries.length === 0 ? (
        <p className="px-4 py-2 text-sm text-soft">{t.none}</p>
      ) : (
        <dl>
          {entries.map(([name, value]) => (
            <div
              key={name}
              className="flex min-h-8 items-start gap-x-4 max-sm:flex-wrap border-b border-line/60 px-4 py-1.5 text-sm last:border-0"
            >
              <dt className="w-36 shrink-0 truncate font-medium max-sm:w-full" title={name}>
                {visible(name)}
              </dt>
              <dd className="flex min-w-0 flex-1 items-start gap-4">
                <div className="min-w-0 flex-1">
                  <Value value={value} label={visible(name)} />
                </div>
                {edit && (
                  <Button tone="quiet" className="!h-6" onClick={() => edit(name)}>
                    {t.change}
                  </Button>
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

function Editor({
  instance,
  variable,
  onClose,
}: {
  instance: string;
  variable: Api["VariableSeen"];
  onClose: () => void;
}) {
  const client = useQueryClient();
  const [text, setText] = useState(pretty(variable.value ?? null));
  const [error, setError] = useState<string>();
  const typed = readJson(text);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (!typed.ok) return setError(typed.error);
    setError(undefined);
    try {
      await post(
        `/workflow-instances/${id(instance)}/variables`,
        variableBody(variable, typed.value ?? null),
      );
    } catch (failure) {
      const { detail, errors } = asProblem(failure);
      return setError([detail, ...errors].join(" "));
    }
    notify(t.instance.variableSaved(variable.name));
    void client.invalidateQueries({ queryKey: ["instance", instance] });
    onClose();
  };
  return (
    <form onSubmit={save} className="space-y-2 border-b border-line bg-accent-soft p-4">
      <TextArea
        label={`${variable.name} (JSON)`}
        autoFocus
        value={text}
        error={error}
        onChange={(event) => {
          setText(event.target.value);
          setError(undefined);
        }}
      />
      {typed.ok && <CopyCommands commands={variableLines(instance, variable, typed.value ?? null)} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t.keep}</Button>
        <Button type="submit" tone="main">
          {t.save}
        </Button>
      </div>
    </form>
  );
}

interface Props {
  detail: Api["InstanceDetail"];
  /** As of this line of the journal. */
  at?: number;
}

/** Variables as they are, or as they were after a line of the journal; input and output. */
export function Values({ detail, at: then }: Props) {
  const [edited, setEdited] = useState<string>();
  const now = useQuery(variablesQuery(detail.id));
  const past = useQuery({
    queryKey: ["instance", detail.id, "state", then],
    enabled: then !== undefined,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      get<Api["StateThen"]>(`/workflow-instances/${id(detail.id)}/state`, { at: then }, signal),
  });
  const variable = now.data?.items.find(({ name }) => name === edited);
  const mayEdit = then === undefined && canChange(detail.subStatus) && can("write:workflow-instances");
  return (
    <div>
      {then === undefined ? (
        <Shown query={now}>
          {({ items }) => (
            <Group
              title={t.instance.variables}
              values={Object.fromEntries(items.map(({ name, value }) => [name, value]))}
              edit={mayEdit ? setEdited : undefined}
            />
          )}
        </Shown>
      ) : (
        <Shown query={past}>
          {(state) => (
            <Group
              title={t.instance.variables}
              note={state.variablesAt < state.at ? t.instance.variablesAt(state.variablesAt) : undefined}
              values={state.variables}
            />
          )}
        </Shown>
      )}
      {variable && (
        <Editor
          key={variable.name}
          instance={detail.id}
          variable={variable}
          onClose={() => setEdited(undefined)}
        />
      )}
      <Group title={t.instance.input} values={detail.workflowState.input} />
      <Group title={t.instance.output} values={detail.workflowState.output} />
    </div>
  );
}
