import { useEffect, useRef, useState } from "react";
import { login } from "../api/client";
import { type Session, session } from "../api/session";
import { isSignInNeeded, waysOn } from "../api/ways";
import { t } from "../text";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { Failed } from "../ui/States";
import { Tabs } from "../ui/Tabs";
import { Lost } from "./Lost";
import { Mark } from "./Mark";
import { lostTo } from "./unsaved";

const WHY = { none: t.login.why, user: t.login.again, key: t.login.keyRefused };

const nameIn = (who: Session): string => (who.kind === "user" ? who.name : "");

/** Gives the focus to the first field that has nothing in it yet. */
export function focusField(around: ParentNode | null): void {
  const fields = [...(around?.querySelectorAll("input") ?? [])];
  (fields.find((field) => field.value === "") ?? fields[0])?.focus();
}

interface Props {
  /** The page beneath it is there again for the same person. */
  isKept?: boolean;
  onDone: () => void;
}

/** Who wants in: a user with a password, or an API key. */
export function Login({ isKept, onDone }: Props) {
  const ways = waysOn() ?? [];
  const offered = (["user", "key"] as const).filter((one) => ways.includes(one));
  const tabs = offered.length > 0 ? offered : (["user", "key"] as const);
  const { kind } = session.current();
  const [way, setWay] = useState<string>(tabs.find((one) => one === kind) ?? tabs[0] ?? "user");
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState<string>();
  const [error, setError] = useState<unknown>();
  const [name, setName] = useState(() => nameIn(session.current()));
  const [password, setPassword] = useState("");
  const [key, setKey] = useState("");

  /** Who wants in while somebody else has unsaved changes here. */
  const [other, setOther] = useState<Session>();

  const form = useRef<HTMLFormElement>(null);
  useEffect(() => focusField(form.current), []);

  const wanted = (): Session =>
    way === "key" ? { kind: "key", key: key.trim() } : { kind: "user", name, access: "", refresh: "" };

  const enter = async (next: Session) => {
    setOther(undefined);
    setWrong(undefined);
    setError(undefined);
    if (next.kind !== "user") {
      session.set(next);
      onDone();
      return;
    }
    setBusy(true);
    try {
      if (await login(next.name, password)) onDone();
      else setWrong(t.login.wrong);
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };

  /** Lets one in, unless somebody else has work here that would be gone. */
  const ask = (next: Session) => {
    if (lostTo(next)) setOther(next);
    else void enter(next);
  };

  /** The one whose changes they are is asked for the rest. */
  const backToFormer = () => {
    const former = session.current();
    setOther(undefined);
    if (former.kind === "none") return void enter(former);
    setWay(former.kind);
    setName(nameIn(former));
    setPassword("");
    setKey("");
    requestAnimationFrame(() => focusField(form.current));
  };

  return (
    <main className="flex min-h-full items-center justify-center p-4">
      <div className="w-full max-w-sm rounded-md border border-line bg-raised shadow-panel">
        <div className="flex items-center gap-3 p-5 pb-3">
          <Mark size={32} />
          <div>
            <h1 className="text-lg font-semibold">{t.login.title}</h1>
            <p className="text-sm text-soft">{WHY[kind]}</p>
            {isKept && <p className="text-sm text-soft">{t.login.kept}</p>}
          </div>
        </div>
        <Tabs
          label={t.login.way}
          tabs={tabs.map((key) => ({ key, word: t.login[key] }))}
          current={way}
          onChange={(next) => {
            setWay(next);
            setOther(undefined);
          }}
        >
          <form
            ref={form}
            className="space-y-3 p-5"
            onSubmit={(event) => {
              event.preventDefault();
              ask(wanted());
            }}
          >
            {way === "user" ? (
              <>
                <Field
                  label={t.login.name}
                  value={name}
                  onChange={(e) => {
                    setName(e.target.value);
                    setOther(undefined);
                  }}
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
                onChange={(e) => {
                  setKey(e.target.value);
                  setOther(undefined);
                }}
                hint={t.login.keyHint}
                required
              />
            )}
            {other && (
              <Lost former={session.current()} onBack={backToFormer} onDrop={() => void enter(other)} />
            )}
            <Button type="submit" tone="main" busy={busy} className="w-full">
              {t.login.enter}
            </Button>
            {isSignInNeeded() ? (
              <p className="text-center text-xs text-soft">{t.login.noneWithout}</p>
            ) : (
              <Button tone="quiet" className="w-full" onClick={() => ask({ kind: "none" })}>
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
