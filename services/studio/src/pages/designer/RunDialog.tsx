import { useState } from "react";
import { readJson } from "../../lib/json";
import { type Json, listOf, membersOf, textOf } from "../../model/json";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Field, TextArea } from "../../ui/Field";
import { foundBy, runDefinition } from "./api";
import { Refusal } from "./drawer/Problems";
import type { Saving } from "./saving";
import { useStudio, useView } from "./store";
import { w } from "./words";

const TEXT = /^(String|Guid|TimeSpan|DateTime|DateTimeOffset)$/;

/** A typed value: text where the input is text, otherwise JSON, otherwise text. */
function typedValue(text: string, type: string, isArray: boolean): unknown {
  if (TEXT.test(type) && !isArray) return text;
  const read = readJson(text);
  return read.ok ? read.value : text;
}

/** Asks for the inputs, saves, and starts what was saved. */
export function RunDialog({ saving, onClose }: { saving: Saving; onClose: () => void }) {
  const studio = useStudio();
  const doc = useView((state) => membersOf(state.history.doc)) ?? {};
  const inputs = listOf(doc.inputs).map((one) => membersOf(one) ?? {});
  const [values, setValues] = useState<Record<string, string>>({});
  const [correlation, setCorrelation] = useState("");
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const typeOf = (input: Record<string, Json>) =>
    `${textOf(input.type)}${input.isArray === true ? "[]" : ""}`;
  const run = async () => {
    setBusy(true);
    setError(undefined);
    try {
      if (studio.isDirty() && !(await saving.save())) return onClose();
      const given = inputs.flatMap((input) => {
        const text = values[textOf(input.name)];
        return text
          ? [[textOf(input.name), typedValue(text, textOf(input.type), input.isArray === true)] as const]
          : [];
      });
      const definition = textOf(membersOf(studio.get().history.doc)?.definitionId);
      const ran = await runDefinition(definition, Object.fromEntries(given), correlation);
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
        <p className="text-sm text-soft">{w.runNote}</p>
        {inputs.map((input) => {
          const name = textOf(input.name);
          const label = `${textOf(input.displayName) || name} (${typeOf(input)})`;
          const set = (text: string) => setValues({ ...values, [name]: text });
          const isLong = !/^(String|Guid|TimeSpan|DateTime.*|Int\d+|Decimal|Double|Single|Boolean)$/.test(
            typeOf(input),
          );
          return isLong ? (
            <TextArea
              key={name}
              label={label}
              rows={3}
              placeholder={w.inputJson}
              value={values[name] ?? ""}
              onChange={(event) => set(event.target.value)}
            />
          ) : (
            <Field
              key={name}
              label={label}
              hint={textOf(input.description)}
              value={values[name] ?? ""}
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
