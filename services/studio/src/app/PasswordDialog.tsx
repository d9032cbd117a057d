import { type FormEvent, useState } from "react";
import { changePassword } from "../api/client";
import { t } from "../text";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { notify } from "../ui/notices";
import { Failed } from "../ui/States";
import { type Entered, type Flaws, flawsIn, flawsOf } from "./password";

/** Asks the user who is signed in for the current password and for another one. */
export function PasswordDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const [entered, setEntered] = useState<Entered>({ current: "", next: "", repeated: "" });
  const [flaws, setFlaws] = useState<Flaws>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const own = flawsIn(entered);
    setFlaws(own);
    setError(undefined);
    if (own) return;
    setBusy(true);
    try {
      await changePassword(entered.current, entered.next);
      notify(t.me.passwordChanged);
      onClose();
    } catch (failure) {
      const said = flawsOf(failure);
      setFlaws(said);
      if (!said) setError(failure);
      setBusy(false);
    }
  };
  const field = (key: keyof Entered) => ({
    type: "password",
    required: true,
    value: entered[key],
    error: flaws?.[key],
    onChange: ({ target }: { target: HTMLInputElement }) => setEntered({ ...entered, [key]: target.value }),
  });
  return (
    <Dialog title={t.me.changePassword} onClose={onClose}>
      <form className="space-y-3" onSubmit={submit}>
        <p className="text-sm text-soft">{t.me.changeNote}</p>
        {/* A password manager knows by it whose password this is. */}
        <input type="text" autoComplete="username" value={name} readOnly hidden />
        <Field label={t.me.currentPassword} autoComplete="current-password" {...field("current")} />
        <Field
          label={t.me.newPassword}
          autoComplete="new-password"
          hint={t.me.newPasswordHint}
          {...field("next")}
        />
        <Field label={t.me.repeatPassword} autoComplete="new-password" {...field("repeated")} />
        {error !== undefined && <Failed error={error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t.keep}</Button>
          <Button type="submit" tone="main" busy={busy}>
            {t.me.changePassword}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
