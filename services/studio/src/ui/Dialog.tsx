import { type DialogHTMLAttributes, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { digitsOf } from "../lib/typed";
import { visible } from "../lib/visible";
import { language, t } from "../text";
import { Button } from "./Button";
import { Field } from "./Field";
import { heirFor } from "./focus";
import { Failed } from "./States";

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
  /** Only a button in it closes it: what it shows cannot be shown again. */
  isHeld?: boolean;
}

/** What was opened beneath a dialog, and takes the focus as soon as that is gone. */
let waiting: HTMLElement | undefined;

/** Gives the focus to a part that opens; beneath a dialog nothing can have it before the dialog is gone. */
export function takeFocus(part: HTMLElement | null): void {
  part?.focus();
  waiting = part && document.activeElement !== part ? part : undefined;
}

/**
 * Gives the focus back to what had it, or where that is gone to its heir or the page, unless something has it already.
 */
export function giveBack(before: Element | null, heir?: () => Element | undefined): void {
  requestAnimationFrame(() => {
    if (waiting?.isConnected) takeFocus(waiting);
    else waiting = undefined;
    const now = document.activeElement;
    if (now !== null && now !== document.body && now.isConnected) return;
    if (before instanceof HTMLElement && before !== document.body) before.focus();
    // What is gone, or cannot be used now, takes no focus.
    const isNowhere = () => document.activeElement === document.body || document.activeElement === null;
    const canvas = document.getElementById("designer-canvas");
    const next = isNowhere() && !canvas ? heir?.() : undefined;
    if (next instanceof HTMLElement) next.focus({ preventScroll: true });
    if (isNowhere()) (canvas ?? document.getElementById("page"))?.focus();
  });
}

/** Attributes of a dialog that neither the Escape key nor a click beside it closes, in browsers of any age. */
const HELD: DialogHTMLAttributes<HTMLDialogElement> & { closedby: string } = {
  closedby: "none",
  onCancel: (event) => event.preventDefault(),
  onClose: (event) => event.currentTarget.showModal(),
};

export function Dialog({ title, onClose, children, wide, isHeld }: Props) {
  const box = useRef<HTMLDialogElement>(null);
  const name = useId();
  useEffect(() => {
    const before = document.activeElement;
    const heir = heirFor(before);
    box.current?.showModal();
    // A dialog that is taken away with what it asked for would leave the focus nowhere.
    return () => giveBack(before, heir);
  }, []);
  return (
    <dialog
      ref={box}
      aria-labelledby={name}
      onClose={onClose}
      {...(isHeld ? HELD : undefined)}
      className={`m-auto w-full rounded-md border border-line bg-raised p-5 text-left whitespace-normal text-ink shadow-panel ${wide ? "max-w-3xl" : "max-w-lg"}`}
    >
      <h2 id={name} className="mb-3 text-lg font-semibold">
        {visible(title)}
      </h2>
      {children}
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  /** The verb and the number: "Cancel 214 instances". */
  verb: string;
  children?: ReactNode;
  /** More than one object: the number has to be typed. */
  count?: number;
  /** There are more than that: their number is not known, and a word is typed instead. */
  isMore?: boolean;
  /** It cannot be done as it is asked for. */
  disabled?: boolean;
  /** Why there is nothing left to ask, where that has come meanwhile: it takes the place of the question. */
  isOver?: string;
  act: () => Promise<unknown>;
  onClose: () => void;
}

/** Asks before something that cannot be undone. */
export function Confirm({
  title,
  verb,
  children,
  count,
  isMore,
  disabled,
  isOver,
  act,
  onClose,
}: ConfirmProps) {
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const wants = count !== undefined && count > 1;
  const wanted = isMore ? t.allWord : String(count);
  const run = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await act();
      onClose();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  // What is being sent may be what ended it.
  if (isOver !== undefined && !busy)
    return (
      <Dialog title={title} onClose={onClose}>
        <p role="alert" className="text-sm">
          {isOver}
        </p>
        <div className="mt-5 flex justify-end">
          <Button autoFocus onClick={onClose}>
            {t.close}
          </Button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <div className="space-y-3 text-sm">{children}</div>
        {wants && (
          <Field
            className="mt-3"
            label={t.typeThis(wanted)}
            inputMode={isMore ? "text" : "numeric"}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
        {error !== undefined && <Failed error={error} />}
        <div className="mt-5 flex justify-end gap-2">
          <Button onClick={onClose}>{t.keep}</Button>
          <Button
            type="submit"
            tone="danger"
            busy={busy}
            disabled={
              disabled ||
              (wants && (isMore ? typed.trim().toLowerCase() : digitsOf(typed, language)) !== wanted)
            }
          >
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
