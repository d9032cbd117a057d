import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { post } from "../../api/client";
import type { Api, Json } from "../../api/types";
import { HaltedNote } from "../../app/HaltedNote";
import { editorOf, readInput } from "../../lib/inputs";
import { readObject } from "../../lib/json";
import { quoted, staunch } from "../../lib/shell";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { CopyCommands } from "../../ui/Code";
import { Dialog } from "../../ui/Dialog";
import { Field, Select, TextArea } from "../../ui/Field";
import { Failed } from "../../ui/States";

type Texts = Record<string, string>;

function Input({
  of,
  text,
  error,
  onText,
}: {
  of: Api["ArgumentDeclared"];
  text: string;
  error?: string;
  onText: (text: string) => void;
}) {
  const editor = editorOf(of.type, of.isArray);
  const label = `${of.name} · ${of.type ?? "Object"}${of.isArray ? "[]" : ""}`;
  if (editor === "switch") {
    return (
      <Select
        label={label}
        value={text}
        options={[
          ["", "–"],
          ["true", t.yes],
          ["false", t.no],
        ]}
        onChange={(event) => onText(event.target.value)}
      />
    );
  }
  if (editor === "json") {
    return (
      <TextArea
        label={`${label} (JSON)`}
        rows={3}
        value={text}
        error={error}
        onChange={(event) => onText(event.target.value)}
      />
    );
  }
  return (
    <Field
      label={label}
      inputMode={editor === "number" ? "decimal" : undefined}
      value={text}
      error={error}
      onChange={(event) => onText(event.target.value)}
    />
  );
}

/** The body of a start, or what is wrong with it by the names of the fields. */
function read(
  definition: Api["FullDefinition"],
  texts: Texts,
): { input: Record<string, Json>; errors: Texts } {
  const input: Record<string, Json> = {};
  const errors: Texts = {};
  for (const one of definition.inputs) {
    const { value, error } = readInput(editorOf(one.type, one.isArray), texts[one.name] ?? "");
    if (error) errors[one.name] = error;
    else if (value !== undefined) input[one.name] = value;
  }
  const other = readObject(texts.$ ?? "");
  if (other.ok) Object.assign(input, other.value);
  else errors.$ = other.error;
  return { input, errors };
}

/** Starts an instance; the form comes from the inputs of the definition. */
export function Start({ definition, onClose }: { definition: Api["FullDefinition"]; onClose: () => void }) {
  const navigate = useNavigate();
  const [texts, setTexts] = useState<Texts>({});
  const [errors, setErrors] = useState<Texts>({});
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const set = (name: string) => (text: string) => {
    setTexts((old) => ({ ...old, [name]: text }));
    setErrors(({ [name]: _, ...others }) => others);
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const { input, errors: wrong } = read(definition, texts);
    setErrors(wrong);
    if (Object.keys(wrong).length > 0) return;
    setBusy(true);
    setError(undefined);
    try {
      const made = await post<Api["InstanceStatus"]>("/workflow-instances/start", {
        definitionId: definition.definitionId,
        input,
        correlationId: texts.$correlation || undefined,
        name: texts.$name || undefined,
      });
      onClose();
      await navigate({ to: "/instances/$id", params: { id: made.workflowInstanceId } });
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  const line = JSON.stringify(read(definition, texts).input);
  return (
    <Dialog title={t.definitions.startTitle(definition.name ?? definition.definitionId)} onClose={onClose}>
      <form onSubmit={submit} className="space-y-3">
        <HaltedNote />
        {definition.inputs.map((one) => (
          <Input
            key={one.name}
            of={one}
            text={texts[one.name] ?? ""}
            error={errors[one.name]}
            onText={set(one.name)}
          />
        ))}
        {definition.inputs.length === 0 && (
          <TextArea
            label={t.definitions.freeInput}
            rows={3}
            value={texts.$ ?? ""}
            error={errors.$}
            onChange={(event) => set("$")(event.target.value)}
          />
        )}
        <div className="grid grid-cols-2 gap-3">
          <Field
            label={t.columns.correlation}
            value={texts.$correlation ?? ""}
            onChange={(event) => set("$correlation")(event.target.value)}
          />
          <Field
            label={t.columns.name}
            value={texts.$name ?? ""}
            onChange={(event) => set("$name")(event.target.value)}
          />
        </div>
        <CopyCommands
          commands={{
            staunch: staunch(`run ${quoted(definition.definitionId)} -i ${quoted(line)}`),
          }}
        />
        {error !== undefined && <Failed error={error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t.keep}</Button>
          <Button type="submit" tone="main" busy={busy}>
            {t.deeds.start}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
