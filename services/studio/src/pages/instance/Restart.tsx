import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { id, post } from "../../api/client";
import type { Api } from "../../api/types";
import { useAddress } from "../../app/address";
import { isObject, readJson } from "../../lib/json";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { pretty } from "../../ui/Code";
import { Dialog } from "../../ui/Dialog";
import { Field, TextArea } from "../../ui/Field";
import { Failed } from "../../ui/States";

/** A new instance with the input of this one, from its begin or from an activity. */
export function Restart({ detail, onClose }: { detail: Api["InstanceDetail"]; onClose: () => void }) {
  const [search] = useAddress();
  const navigate = useNavigate();
  const [activity, setActivity] = useState(search.activity ?? "");
  const [input, setInput] = useState(pretty(detail.workflowState.input));
  const [wrong, setWrong] = useState<string>();
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const read = readJson(input);
    if (!read.ok) return setWrong(read.error);
    try {
      const body = {
        activityId: activity || undefined,
        input: isObject(read.value) ? read.value : undefined,
      };
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
        <p className="text-sm text-soft">{t.instance.restartHint}</p>
        <Field
          label={t.instance.fromActivity}
          hint={t.instance.fromActivityHint}
          value={activity}
          onChange={(event) => setActivity(event.target.value)}
        />
        <TextArea
          label={`${t.instance.input} (JSON)`}
          value={input}
          error={wrong}
          onChange={(event) => setInput(event.target.value)}
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
