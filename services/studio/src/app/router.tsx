import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { STUDIO } from "../api/base";
import type { Search } from "../lib/filters";
import { HomePage } from "../pages/home/HomePage";
import { Failed } from "../ui/States";
import { parseSearch, stringifySearch } from "./address";
import { Frame } from "./Frame";
import { NotFound } from "./NotFound";

const root = createRootRoute({
  component: Frame,
  notFoundComponent: NotFound,
  errorComponent: ({ error }) => <Failed error={error} />,
  validateSearch: (search: Record<string, unknown>): Search => search as Search,
});

const at = <P extends string>(path: P, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => root, path, component });

const tree = root.addChildren([
  createRoute({ getParentRoute: () => root, path: "/", component: HomePage }),
  at(
    "/definitions",
    lazyRouteComponent(() => import("../pages/definitions/DefinitionsPage"), "DefinitionsPage"),
  ),
  at(
    "/definitions/new",
    lazyRouteComponent(() => import("../pages/designer"), "DesignerNew"),
  ),
  at(
    "/definitions/$id/edit",
    lazyRouteComponent(() => import("../pages/designer"), "DesignerPage"),
  ),
  at(
    "/definitions/$id",
    lazyRouteComponent(() => import("../pages/definitions/DefinitionPage"), "DefinitionPage"),
  ),
  at(
    "/instances",
    lazyRouteComponent(() => import("../pages/instances/InstancesPage"), "InstancesPage"),
  ),
  at(
    "/instances/$id",
    lazyRouteComponent(() => import("../pages/instance/InstancePage"), "InstancePage"),
  ),
  at(
    "/incidents",
    lazyRouteComponent(() => import("../pages/incidents/IncidentsPage"), "IncidentsPage"),
  ),
  at(
    "/schedules",
    lazyRouteComponent(() => import("../pages/schedules/SchedulesPage"), "SchedulesPage"),
  ),
  at(
    "/tasks",
    lazyRouteComponent(() => import("../pages/tasks/TasksPage"), "TasksPage"),
  ),
  at(
    "/messages",
    lazyRouteComponent(() => import("../pages/messages/MessagesPage"), "MessagesPage"),
  ),
  at(
    "/cluster",
    lazyRouteComponent(() => import("../pages/cluster/ClusterPage"), "ClusterPage"),
  ),
  at(
    "/access",
    lazyRouteComponent(() => import("../pages/access/AccessPage"), "AccessPage"),
  ),
  at(
    "/secrets",
    lazyRouteComponent(() => import("../pages/secrets/SecretsPage"), "SecretsPage"),
  ),
]);

export const router = createRouter({
  routeTree: tree,
  basepath: STUDIO,
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  scrollRestoration: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
