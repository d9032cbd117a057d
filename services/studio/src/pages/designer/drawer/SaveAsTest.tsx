import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../../ui/Button";
import { Dialog } from "../../../ui/Dialog";
import { Field } from "../../../ui/Field";
import { notify } from "../../../ui/notices";
import { added, fileOf, freshName, keepFile, makeCase, namesIn } from "../cases";
import { useStudio, useView } from "../store";
import { w } from "../words";
import { Refusal } from "./Problems";

/** Makes a test of a test run: it gets a name, and is an edit of the workflow. */
function Naming({ request, onClose }: { request: string; onClose: () => void }) {
  const studio = useStudio();
  const file = useView((state) => fileOf(state.history.doc));
  const [typed, setTyped] = useState(() => freshName(file));
  const name = typed.trim();
  const isTaken = namesIn(file).includes(name);
  const save = useMutation({
    mutationFn: () => makeCase(request),
    meta: { quiet: true },
    onSuccess: (test) => {
      keepFile(studio, "add", added(fileOf(studio.get().history.doc), name, test));
      studio.set({ drawer: "cases" });
      notify(w.caseWords.saved(name));
      onClose();
    },
  });
  return (
    <Dialog title={w.caseWords.save} onClose={onClose}>
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (name !== "" && !isTaken) save.mutate();
        }}
      >
        <Field
          autoFocus
          label={w.caseWords.name}
          hint={w.caseWords.saveNote}
          error={isTaken ? w.caseWords.taken : undefined}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        {save.isError && <Refusal error={save.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{w.caseWords.cancel}</Button>
          <Button type="submit" tone="main" busy={save.isPending} disabled={name === "" || isTaken}>
            {w.caseWords.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The button that makes a test of the run that is shown. */
export function SaveAsTest({ request }: { request: string }) {
  const studio = useStudio();
  const [isAsked, setAsked] = useState(false);
  if (studio.isLocked) return null;
  return (
    <>
      <Button onClick={() => setAsked(true)}>{w.caseWords.save}</Button>
      {isAsked && <Naming request={request} onClose={() => setAsked(false)} />}
    </>
  );
}
