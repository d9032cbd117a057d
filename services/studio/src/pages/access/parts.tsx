import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { del } from "../../api/client";
import { asProblem, Problem } from "../../api/problem";
import { wrongIn } from "../../lib/permissions";
import { changes } from "../../lib/shell";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Code, CopyCommands } from "../../ui/Code";
import { Confirm, Dialog } from "../../ui/Dialog";
import { Check } from "../../ui/Field";
import { Failed } from "../../ui/States";

/** The line above a list: what it is, and a button that makes one more. */
export function Bar({ note, word, onMake }: { note: ReactNode; word?: string; onMake?: () => void }) {
  return (
    <div className="flex min-h-11 items-center gap-3 border-b border-line px-4 py-1.5 text-sm text-soft">
      <p className="flex-1">{note}</p>
      {word && onMake && (
        <Button tone="main" icon="plus" onClick={onMake}>
          {word}
        </Button>
      )}
    </div>
  );
}

interface MakeProps {
  title: string;
  verb: string;
  /** Does it; what it answers is shown once. */
  make: () => Promise<Record<string, string> | undefined>;
  /** Something is missing yet, or wrong. */
  disabled?: boolean;
  /** What is odd about it: it is made only when the button is pressed again. */
  doubt?: string;
  onClose: () => void;
  children: ReactNode;
}

/** A refusal that lists all permissions there are says only which ones are wrong. */
function brief(failure: unknown): unknown {
  const problem = asProblem(failure);
  const wrong = wrongIn(problem.detail);
  if (wrong.length === 0) return failure;
  return new Problem(
    problem.status,
    problem.title,
    t.access.wrongPermission(wrong.join(", ")),
    problem.request,
  );
}

/** A form that makes something; a password or key that comes of it is shown once. */
export function Make({ title, verb, make, disabled, doubt, onClose, children }: MakeProps) {
  const [once, setOnce] = useState<Record<string, string>>();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [doubted, setDoubted] = useState<string>();
  const isAsked = doubt !== undefined && doubted === doubt;
  if (once) {
    return (
      <Dialog title={title} onClose={onClose} isHeld>
        <p className="mb-3 text-sm">{t.access.once}</p>
        <div className="space-y-3">
          {Object.entries(once).map(([name, value], at) => (
            <div key={name}>
              <p className="mb-1 text-xs text-soft">{name}</p>
              <Code text={value} label={name} isToCopy={at === 0} />
            </div>
          ))}
        </div>
        <div className="mt-5 flex justify-end">
          <Button tone="main" onClick={onClose}>
            {t.close}
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="space-y-3"
        // What was refused is not what is there now.
        onChange={() => setError(undefined)}
        onSubmit={async (event) => {
          event.preventDefault();
          setDoubted(doubt);
          if (doubt !== undefined && !isAsked) return;
          setBusy(true);
          setError(undefined);
          try {
            const shown = await make();
            if (shown) setOnce(shown);
            else onClose();
          } catch (failure) {
            setError(brief(failure));
          }
          setBusy(false);
        }}
      >
        {children}
        {error !== undefined && <Failed error={error} />}
        {isAsked && (
          <p role="alert" className="text-sm text-waiting">
            {doubt}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t.keep}</Button>
          <Button type="submit" tone="main" busy={busy} disabled={disabled}>
            {isAsked ? t.access.allTheSame : verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Asks before one of a list is removed, and reads the list again. */
export function Removal({
  name,
  path,
  list,
  consequence,
  command,
  onClose,
}: {
  name: string;
  path: string;
  /** The line of `staunch` that does it. */
  command: string;
  /** The key of the query that reads the list. */
  list: string;
  consequence: string;
  onClose: () => void;
}) {
  const client = useQueryClient();
  return (
    <Confirm
      title={t.access.deleteOne(name)}
      verb={t.access.deleteOne(name)}
      act={() => del(path).then(() => client.invalidateQueries({ queryKey: [list] }))}
      onClose={onClose}
    >
      <p>{consequence}</p>
      <CopyCommands commands={{ staunch: command, ...changes("DELETE", path) }} />
    </Confirm>
  );
}

/** Chooses some of many. */
export function Choices({
  label,
  all,
  chosen,
  onChange,
}: {
  label: string;
  all: readonly (readonly [string, string])[];
  chosen: string[];
  onChange: (chosen: string[]) => void;
}) {
  return (
    <fieldset>
      <legend className="mb-1 text-xs font-medium text-soft">{label}</legend>
      {all.length === 0 && <p className="text-sm text-soft">{t.none}</p>}
      <div className="grid max-h-56 gap-x-4 overflow-auto sm:grid-cols-2">
        {all.map(([value, word]) => (
          <Check
            key={value}
            label={<span className="truncate">{word}</span>}
            checked={chosen.includes(value)}
            onChange={(event) =>
              onChange(event.target.checked ? [...chosen, value] : chosen.filter((one) => one !== value))
            }
          />
        ))}
      </div>
    </fieldset>
  );
}
