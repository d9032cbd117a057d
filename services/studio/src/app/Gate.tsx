import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState, useSyncExternalStore } from "react";
import { get } from "../api/client";
import { type Session, session } from "../api/session";
import type { Api } from "../api/types";
import { isSignInNeeded } from "../api/ways";
import { Login } from "./Login";

/** The longest that the page waits to know what one may do; after that, it shows what the token says. */
const PATIENCE_MS = 3000;

/** Whose session it is: new tokens of the same person are no other one. */
function nameOf(who: Session): string {
  return who.kind === "user" ? `user ${who.name}` : who.kind === "key" ? `key ${who.key}` : "none";
}

/** Shows the login in place of the page as long as the server wants other credentials. */
export function Gate({ children }: { children: ReactNode }) {
  const who = useSyncExternalStore(session.subscribe, session.current);
  const name = nameOf(who);
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
        if (!leaving.signal.aborted) setAsked(name);
      });
    return () => leaving.abort();
  }, [refused, name]);
  if (refused) return <Login onDone={() => client.clear()} />;
  return asked === name ? children : null;
}
