import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useSyncExternalStore } from "react";
import { session } from "../api/session";
import { Login } from "./Login";

/** Shows the login in place of the page as long as the server wants other credentials. */
export function Gate({ children }: { children: ReactNode }) {
  const refused = useSyncExternalStore(session.subscribe, session.isRefused);
  const client = useQueryClient();
  if (refused) return <Login onDone={() => client.clear()} />;
  return children;
}
