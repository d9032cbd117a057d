import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { writeText } from "../../../model/json";
import { Button } from "../../../ui/Button";
import { Dialog } from "../../../ui/Dialog";
import { Failed, Loading } from "../../../ui/States";
import { checkCases, contentFor, takeText } from "../cases";
import { Code } from "../code/Code";
import { useStudio } from "../store";
import { w } from "../words";

interface Props {
  /** The test to edit; without it, the whole file. */
  name?: string | undefined;
  onClose: () => void;
}

function TextForm({ name, text, onClose }: Props & { text: string }) {
  const studio = useStudio();
  const [typed, setTyped] = useState(text);
  const take = useMutation({
    mutationFn: () => takeText(studio, typed, name),
    meta: { quiet: true },
    onSuccess: (refused) => {
      if (!refused) onClose();
    },
  });
  const { flaws, reason } = take.data ?? { flaws: [] };
  return (
    <form
      className="space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        take.mutate();
      }}
    >
      <p className="text-xs text-soft">{name === undefined ? w.caseWords.textAll : w.caseWords.textNote}</p>
      <div className="h-80 overflow-hidden rounded-md border border-line-strong/60">
        <Code
          isBig
          label={w.caseWords.text}
          language="yaml"
          value={typed}
          faults={flaws}
          onChange={(next) => {
            setTyped(next);
            take.reset();
          }}
        />
      </div>
      {(flaws.length > 0 || reason) && (
        <ul role="alert" className="max-h-40 overflow-auto text-xs text-faulted">
          {reason && <li>{reason}</li>}
          {flaws.map(({ line, column, message }) => (
            <li key={`${line} ${column} ${message}`}>{w.caseWords.flaw(line, column, message)}</li>
          ))}
        </ul>
      )}
      {take.isError && <Failed error={take.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{w.caseWords.cancel}</Button>
        <Button type="submit" tone="main" busy={take.isPending} disabled={studio.isLocked}>
          {w.caseWords.apply}
        </Button>
      </div>
    </form>
  );
}

/** A test, or all of them, as text: the server writes it and reads it. */
export function CaseEditor({ name, onClose }: Props) {
  const studio = useStudio();
  const [content] = useState(() => contentFor(studio.get().history.doc, name));
  const text = useQuery({
    queryKey: ["test-file", content ? writeText(content, "") : ""],
    queryFn: async ({ signal }) => (content ? (await checkCases(content, signal)).text : ""),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Dialog wide title={name ?? w.caseWords.editAll} onClose={onClose}>
      {text.isPending && <Loading rows={6} />}
      {text.isError && <Failed error={text.error} retry={() => void text.refetch()} />}
      {text.isSuccess && <TextForm name={name} text={text.data} onClose={onClose} />}
    </Dialog>
  );
}
