import { MutationCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ROOT, STUDIO } from "./api/base";
import { watchNetwork } from "./api/network";
import { watchPresence } from "./api/presence";
import { asProblem } from "./api/problem";
import { againIn } from "./app/again";
import { Gate } from "./app/Gate";
import { preloadPages, router } from "./app/router";
import { applyTheme } from "./app/settings";
import { shareSession, takeSession } from "./app/together";
import "./styles.css";
import { complain, Notices } from "./ui/notices";

applyTheme();
watchPresence();
watchNetwork();
// The server shows this page at its root, too.
if (location.pathname === `${ROOT}/` || location.pathname === STUDIO) {
  history.replaceState(null, "", `${STUDIO}/${location.search}`);
}

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2000,
      retry: (failures, error) => asProblem(error).status === 0 && failures < 3,
      // A page that failed while the database was down is there again once that is back.
      refetchInterval: againIn,
      refetchOnWindowFocus: true,
      // A server on the same machine answers without a network.
      networkMode: "always",
      refetchOnReconnect: true,
    },
    // What waited for a network would be done when nobody expects it any more.
    mutations: { networkMode: "always" },
  },
  mutationCache: new MutationCache({ onError: (error) => complain(error) }),
});

shareSession(client);

async function show(root: HTMLElement): Promise<void> {
  await takeSession();
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <Gate>
          <RouterProvider router={router} />
        </Gate>
        <Notices />
      </QueryClientProvider>
    </StrictMode>,
  );
  void preloadPages();
}

const root = document.getElementById("root");
if (root) void show(root);
