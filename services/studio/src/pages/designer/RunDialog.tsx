import { useState } from "react";
import { HaltedNote } from "../../app/HaltedNote";
import { editorOf, readInput } from "../../lib/inputs";
import { type Json, listOf, membersOf, textOf } from "../../model/json";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Field, Select, TextArea } from "../../ui/Field";
import { foundBy, runDefinition } from "./api";
import { Refusal } from "./drawer/Problems";
import type { Saving } from "./saving";
import { useStudio, useView } from "./store";
import { w } from "./words";

/** What a form asks for an input of the workflow. */
const editorFor = (input: Record<string, Json>) => editorOf(textOf(input.type), input.isArray === true);

/** Asks for the inputs, saves, and starts what was saved. */
export function RunDialog({ saving, onClose }: { saving: Saving; onClose: () => void }) {
  const studio = useStudio();
  const doc = useView((state) => membersOf(state.history.doc)) ?? {};
  const inputs = listOf(doc.inputs).map((one) => membersOf(one) ?? {});
  const [values, setValues] = useState<Record<string, string>>({});
  const [correlation, setCorrelation] = useState("");
  const [wrong, setWrong] = useState<Record<string, string>>({});
  const [isChanged] = useState(() => studio.isDirty());
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const typeOf = (input: Record<string, Json>) =>
    `${textOf(input.type)}${input.isArray === true ? "[]" : ""}`;
  const run = async () => {
    const given: Record<string, unknown> = {};
    const refused: Record<string, string> = {};
    for (const input of inputs) {
      const name = textOf(input.name);
      const read = readInput(editorFor(input), values[name] ?? "");
      if (read.error) refused[name] = read.error;
      else if (read.value !== undefined) given[name] = read.value;
    }
    setWrong(refused);
    if (Object.keys(refused).length > 0) return;
    setBusy(true);
    setError(undefined);
    try {
      if (studio.isDirty() && !(await saving.save())) return onClose();
      const definition = textOf(membersOf(studio.get().history.doc)?.definitionId);
      const ran = await runDefinition(definition, given, correlation);
      studio.set({ run: ran, marks: new Map(), tested: undefined, refused: undefined, drawer: "runs" });
      onClose();
    } catch (failure) {
      const found = foundBy(failure);
      if (found.length > 0) studio.set({ found });
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title={w.runTitle} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
        className="space-y-3"
      >
        <HaltedNote />
        <p className="text-sm text-soft">{isChanged ? w.runNote : w.runNoteSaved}</p>
        {inputs.map((input) => {
          const name = textOf(input.name);
          const label = `${textOf(input.displayName) || name} (${typeOf(input)})`;
          const set = (text: string) => {
            setValues({ ...values, [name]: text });
            setWrong(({ [name]: _, ...others }) => others);
          };
          const editor = editorFor(input);
          if (editor === "switch")
            return (
              <Select
                key={name}
                label={label}
                value={values[name] ?? ""}
                options={[
                  ["", "–"],
                  ["true", t.yes],
                  ["false", t.no],
                ]}
                onChange={(event) => set(event.target.value)}
              />
            );
          return editor === "json" ? (
            <TextArea
              key={name}
              label={label}
              rows={3}
              placeholder={w.inputJson}
              value={values[name] ?? ""}
              error={wrong[name]}
              onChange={(event) => set(event.target.value)}
            />
          ) : (
            <Field
              key={name}
              label={label}
              hint={textOf(input.description)}
              inputMode={editor === "number" ? "decimal" : undefined}
              value={values[name] ?? ""}
              error={wrong[name]}
              onChange={(event) => set(event.target.value)}
            />
          );
        })}
        <Field
          label={w.correlation}
          value={correlation}
          onChange={(event) => setCorrelation(event.target.value)}
        />
        {error !== undefined && (
          <section role="alert" aria-label={w.runRefused}>
            <h3 className="text-sm font-medium">{w.runRefused}</h3>
            <div className="max-h-72 overflow-auto">
              <Refusal error={error} onGo={onClose} />
            </div>
          </section>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t.close}</Button>
          <Button type="submit" tone="main" busy={busy}>
            {w.run}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
