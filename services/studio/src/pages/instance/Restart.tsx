import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { id, post } from "../../api/client";
import { versionQuery } from "../../api/queries";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { useAddress } from "../../app/address";
import { HaltedNote } from "../../app/HaltedNote";
import { nameOf, text, withId } from "../../graph/activities";
import { useTypeWords } from "../../graph/words";
import { readObject } from "../../lib/json";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { CopyCommands, pretty } from "../../ui/Code";
import { Dialog } from "../../ui/Dialog";
import { Field, Select, TextArea } from "../../ui/Field";
import { Failed, Loading } from "../../ui/States";
import { beginningsOf } from "./beginnings";
import { restartLines } from "./restarting";

/** Chooses where the new instance begins: only what the server takes is offered. */
function Beginning({
  version,
  activity,
  onChange,
}: {
  version: string;
  activity: string;
  onChange: (activity: string) => void;
}) {
  const mayRead = can("read:workflow-definitions");
  const words = useTypeWords();
  const definition = useQuery({ ...versionQuery(version), enabled: mayRead });
  if (!mayRead || !version || definition.error) {
    return (
      <Field
        label={t.instance.fromActivity}
        hint={t.instance.fromActivityHint}
        value={activity}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  }
  if (!definition.data) return <Loading rows={1} />;
  const all = beginningsOf(definition.data.root);
  if (all.length === 0) return <p className="text-sm text-soft">{t.instance.onlyBegin}</p>;
  const offered = all.map((one) => [text(one.id), withId(nameOf(one, words), text(one.id))] as const);
  return (
    <Select
      label={t.instance.fromActivity}
      hint={t.instance.onlyFlowchart}
      value={activity}
      options={[["", t.instance.fromBegin], ...offered]}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** A new instance with the input and the variables of this one, from its begin or from an activity. */
export function Restart({ detail, onClose }: { detail: Api["InstanceDetail"]; onClose: () => void }) {
  const [search] = useAddress();
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<string>();
  const { data } = useQuery({
    ...versionQuery(detail.definitionVersionId),
    enabled: can("read:workflow-definitions"),
  });
  // What is selected in the graph, if an instance can begin there.
  const isBeginning = beginningsOf(data?.root).some((one) => one.id === search.activity);
  const activity = chosen ?? (isBeginning ? (search.activity ?? "") : "");
  const given = pretty(detail.workflowState.input);
  const [input, setInput] = useState(given);
  const [variables, setVariables] = useState("");
  const [wrong, setWrong] = useState<{ input?: string; variables?: string }>({});
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const [read, other] = [readObject(input), readObject(variables)];
    setWrong({
      input: read.ok ? undefined : read.error,
      variables: other.ok ? undefined : other.error,
    });
    if (!read.ok || !other.ok) return;
    try {
      const body = { activityId: activity || undefined, input: read.value ?? {}, variables: other.value };
      const made = await post<Api["InstanceStatus"]>(`/workflow-instances/${id(detail.id)}/restart`, body);
      onClose();
      await navigate({ to: "/instances/$id", params: { id: made.workflowInstanceId } });
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <Dialog title={t.deeds.restart} onClose={onClose}>
      <form onSubmit={submit} className="space-y-3">
        <HaltedNote />
        <p className="text-sm text-soft">{activity ? t.instance.restartFrom : t.instance.restartHint}</p>
        <Beginning version={detail.definitionVersionId} activity={activity} onChange={setChosen} />
        <TextArea
          label={`${t.instance.input} (JSON)`}
          value={input}
          error={wrong.input}
          onChange={(event) => {
            setInput(event.target.value);
            setWrong({ ...wrong, input: undefined });
          }}
        />
        <TextArea
          label={t.instance.otherVariables}
          hint={t.instance.otherVariablesHint}
          rows={3}
          value={variables}
          error={wrong.variables}
          onChange={(event) => {
            setVariables(event.target.value);
            setWrong({ ...wrong, variables: undefined });
          }}
        />
        <CopyCommands
          commands={restartLines(detail.id, activity, {
            input: input === given ? undefined : input,
            variables,
          })}
        />
        {error !== undefined && <Failed error={error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t.keep}</Button>
          <Button type="submit" tone="main">
            {t.instance.startNew}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
