import { createRootRoute, createRoute, createRouter, type RouteComponent } from "@tanstack/react-router";
import { useSyncExternalStore } from "react";
import { STUDIO } from "../api/base";
import { session } from "../api/session";
import type { Search } from "../lib/filters";
import { HomePage } from "../pages/home/HomePage";
import { later, preloadWhenIdle } from "../ui/later";
import { Failed } from "../ui/States";
import { parseSearch, stringifySearch } from "./address";
import { Frame } from "./Frame";
import { NotFound } from "./NotFound";

const root = createRootRoute({
  component: Frame,
  notFoundComponent: NotFound,
  validateSearch: (search: Record<string, unknown>): Search => search as Search,
});

/** A page that is drawn anew when one may do something else than before. */
function permitted(Page: RouteComponent): RouteComponent {
  const Permitted = () => {
    useSyncExternalStore(session.subscribe, session.permissions);
    return <Page />;
  };
  return Object.assign(Permitted, { preload: Page.preload });
}

const at = <P extends string>(path: P, page: RouteComponent) =>
  createRoute({ getParentRoute: () => root, path, component: permitted(page) });

const tree = root.addChildren([
  at("/", HomePage),
  at(
    "/definitions",
    later(async () => (await import("../pages/definitions/DefinitionsPage")).DefinitionsPage),
  ),
  at(
    "/definitions/new",
    later(async () => (await import("../pages/designer")).DesignerNew),
  ),
  at(
    "/definitions/$id/edit",
    later(async () => (await import("../pages/designer")).DesignerPage),
  ),
  at(
    "/definitions/$id",
    later(async () => (await import("../pages/definitions/DefinitionPage")).DefinitionPage),
  ),
  at(
    "/instances",
    later(async () => (await import("../pages/instances/InstancesPage")).InstancesPage),
  ),
  at(
    "/instances/$id",
    later(async () => (await import("../pages/instance/InstancePage")).InstancePage),
  ),
  at(
    "/incidents",
    later(async () => (await import("../pages/incidents/IncidentsPage")).IncidentsPage),
  ),
  at(
    "/schedules",
    later(async () => (await import("../pages/schedules/SchedulesPage")).SchedulesPage),
  ),
  at(
    "/tasks",
    later(async () => (await import("../pages/tasks/TasksPage")).TasksPage),
  ),
  at(
    "/messages",
    later(async () => (await import("../pages/messages/MessagesPage")).MessagesPage),
  ),
  at(
    "/cluster",
    later(async () => (await import("../pages/cluster/ClusterPage")).ClusterPage),
  ),
  at(
    "/access",
    later(async () => (await import("../pages/access/AccessPage")).AccessPage),
  ),
  at(
    "/secrets",
    later(async () => (await import("../pages/secrets/SecretsPage")).SecretsPage),
  ),
]);

export const router = createRouter({
  routeTree: tree,
  basepath: STUDIO,
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  // A page that fails leaves the frame around it as it is.
  defaultErrorComponent: ({ error, reset }) => <Failed error={error} retry={reset} />,
  scrollRestoration: false,
});

/** Loads the code of the other pages, so that they are there when the connection is not. */
export const preloadPages = () =>
  preloadWhenIdle(Object.values(router.routesById).map((route) => () => router.loadRouteChunk(route)));

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
