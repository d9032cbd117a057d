import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { visible } from "../../../lib/visible";
import { writeText } from "../../../model/json";
import { Button } from "../../../ui/Button";
import { Dialog } from "../../../ui/Dialog";
import { notify } from "../../../ui/notices";
import { Failed, Loading } from "../../../ui/States";
import { checkCases, contentFor, fileOf, namesIn, takeText } from "../cases";
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
    mutationFn: async () => {
      const count = () => namesIn(fileOf(studio.get().history.doc)).length;
      const before = count();
      const refused = await takeText(studio, typed, name);
      return { refused, fewer: before - count() };
    },
    meta: { quiet: true },
    onSuccess: ({ refused, fewer }) => {
      if (refused) return;
      if (fewer > 0) notify(w.caseWords.deleted(fewer));
      onClose();
    },
  });
  const { flaws, reason } = take.data?.refused ?? { flaws: [] };
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
        <div role="alert" className="max-h-40 overflow-auto text-xs text-faulted">
          {reason && <p>{visible(reason)}</p>}
          <ul>
            {flaws.map(({ line, column, message }) => (
              <li key={`${line} ${column} ${message}`}>{visible(w.caseWords.flaw(line, column, message))}</li>
            ))}
          </ul>
        </div>
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
