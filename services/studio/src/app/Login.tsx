import { type FormEvent, useEffect, useRef, useState } from "react";
import { login } from "../api/client";
import { session } from "../api/session";
import { isSignInNeeded, waysOn } from "../api/ways";
import { t } from "../text";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { Failed } from "../ui/States";
import { Tabs } from "../ui/Tabs";
import { Mark } from "./Mark";

const WHY = { none: t.login.why, user: t.login.again, key: t.login.keyRefused };

/** Who wants in: a user with a password, or an API key. */
export function Login({ onDone }: { onDone: () => void }) {
  const ways = waysOn() ?? [];
  const offered = (["user", "key"] as const).filter((one) => ways.includes(one));
  const tabs = offered.length > 0 ? offered : (["user", "key"] as const);
  const [way, setWay] = useState<string>(tabs[0] ?? "user");
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState<string>();
  const [error, setError] = useState<unknown>();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [key, setKey] = useState("");

  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector("input")?.focus(), []);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setWrong(undefined);
    setError(undefined);
    if (way === "key") {
      onDone();
      session.set({ kind: "key", key: key.trim() });
      return;
    }
    setBusy(true);
    try {
      if (await login(name, password)) onDone();
      else setWrong(t.login.wrong);
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };

  return (
    <main className="flex min-h-full items-center justify-center p-4">
      <div className="w-full max-w-sm rounded-md border border-line bg-raised shadow-panel">
        <div className="flex items-center gap-3 p-5 pb-3">
          <Mark size={32} />
          <div>
            <h1 className="text-lg font-semibold">{t.login.title}</h1>
            <p className="text-sm text-soft">{WHY[session.current().kind]}</p>
          </div>
        </div>
        <Tabs
          label={t.login.way}
          tabs={tabs.map((key) => ({ key, word: t.login[key] }))}
          current={way}
          onChange={setWay}
        >
          <form ref={form} className="space-y-3 p-5" onSubmit={submit}>
            {way === "user" ? (
              <>
                <Field
                  label={t.login.name}
                  value={name}
                  onChange={(e) => setName(e.target.value)}
                  autoComplete="username"
                  required
                />
                <Field
                  label={t.login.password}
                  type="password"
                  value={password}
                  onChange={(e) => setPassword(e.target.value)}
                  autoComplete="current-password"
                  error={wrong}
                  required
                />
              </>
            ) : (
              <Field
                label={t.login.key}
                type="password"
                value={key}
                onChange={(e) => setKey(e.target.value)}
                hint={t.login.keyHint}
                required
              />
            )}
            <Button type="submit" tone="main" busy={busy} className="w-full">
              {t.login.enter}
            </Button>
            {isSignInNeeded() ? (
              <p className="text-center text-xs text-soft">{t.login.noneWithout}</p>
            ) : (
              <Button tone="quiet" className="w-full" onClick={() => session.set({ kind: "none" })}>
                {t.login.without}
              </Button>
            )}
          </form>
        </Tabs>
        {error !== undefined && <Failed error={error} />}
      </div>
    </main>
  );
}
