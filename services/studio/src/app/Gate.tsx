import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { get } from "../api/client";
import { personOf, session } from "../api/session";
import type { Api } from "../api/types";
import { isSignInNeeded } from "../api/ways";
import { t } from "../text";
import { giveBack } from "../ui/Dialog";
import { focusField, Login } from "./Login";

/** The longest that the page waits to know what one may do; after that, it shows what the token says. */
const PATIENCE_MS = 3000;

/** Shows the login above all that the page has open, which stays as it is until one is back. */
function Above({ children }: { children: ReactNode }) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    box.current?.showModal();
    // A dialog that opens gives the focus to its first button.
    focusField(box.current);
    return () => giveBack(before);
  }, []);
  return (
    <dialog
      ref={box}
      tabIndex={-1}
      aria-label={t.login.title}
      onKeyDown={(event) => event.stopPropagation()}
      onCancel={(event) => event.preventDefault()}
      onClose={() => box.current?.showModal()}
      className="m-0 size-full max-h-none max-w-none border-0 bg-paper p-0 text-ink outline-none"
    >
      {children}
    </dialog>
  );
}

/**
 * Shows the login as long as the server wants other credentials. What somebody has begun on the page is there again
 * once the same person has signed in.
 */
export function Gate({ children }: { children: ReactNode }) {
  const who = useSyncExternalStore(session.subscribe, session.current);
  const name = personOf(who);
  // Without credentials, a server that wants some is not asked: it would count that as an attempt.
  const isOut = who.kind === "none" && isSignInNeeded();
  const refused = useSyncExternalStore(session.subscribe, session.isRefused) || isOut;
  const [asked, setAsked] = useState<string>();
  const client = useQueryClient();
  useEffect(() => {
    if (refused) return;
    const leaving = new AbortController();
    const signal = AbortSignal.any([leaving.signal, AbortSignal.timeout(PATIENCE_MS)]);
    void get<Api["Me"]>("/identity/me", undefined, signal)
      .then((me) => session.learn(me.permissions))
      // Without an answer, the server decides about each request.
      .catch(() => undefined)
      .finally(() => {
        if (!leaving.signal.aborted && !session.isRefused()) setAsked(name);
      });
    return () => leaving.abort();
  }, [refused, name]);
  const isKept = asked === name;
  const onDone = () => {
    if (personOf(session.current()) === name) void client.refetchQueries({ type: "active", stale: true });
    else client.clear();
  };
  return (
    <>
      {isKept && (
        <div inert={refused} className={`h-full ${refused ? "invisible" : ""}`}>
          {children}
        </div>
      )}
      {refused && isKept && (
        <Above>
          <Login isKept={who.kind !== "none"} onDone={onDone} />
        </Above>
      )}
      {refused && !isKept && <Login onDone={onDone} />}
    </>
  );
}
