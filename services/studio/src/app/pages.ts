import type { IconName } from "../ui/Icon";

/** The pages of the rail, with the permissions of which one is needed to see them. */
export const PAGES = [
  { key: "home", to: "/", icon: "home", needs: [] },
  { key: "definitions", to: "/definitions", icon: "definitions", needs: ["read:workflow-definitions"] },
  { key: "instances", to: "/instances", icon: "instances", needs: ["read:workflow-instances"] },
  { key: "incidents", to: "/incidents", icon: "incidents", needs: ["read:workflow-instances"] },
  { key: "schedules", to: "/schedules", icon: "clock", needs: ["read:schedules"] },
  { key: "tasks", to: "/tasks", icon: "tasks", needs: ["read:activity-descriptors"] },
  {
    key: "messages",
    to: "/messages",
    icon: "messages",
    needs: ["read:bookmark-queue:dead-letters", "read:nodes"],
  },
  { key: "cluster", to: "/cluster", icon: "cluster", needs: ["read:nodes", "read:workflow-runtime"] },
  {
    key: "access",
    to: "/access",
    icon: "access",
    needs: ["read:user", "read:role", "read:application", "read:api-keys", "read:audit"],
  },
  { key: "secrets", to: "/secrets", icon: "secrets", needs: ["read:secrets"] },
] as const satisfies readonly { key: string; to: string; icon: IconName; needs: readonly string[] }[];

/** What the palette can do besides opening a page, with the permissions of which one is needed for it. */
export const COMMANDS = [
  { key: "newWorkflow", to: "/definitions/new", needs: ["write:workflow-definitions"] },
] as const;

/** Those that are for everybody, or of whose permissions the user has one. */
export const offered = <E extends { needs: readonly string[] }>(
  entries: readonly E[],
  may: (permission: string) => boolean,
): E[] => entries.filter(({ needs }) => needs.length === 0 || needs.some(may));

/** The page of the rail to which this path belongs, where the user may not see it. */
export function lackedAt(
  path: string,
  may: (permission: string) => boolean,
): (typeof PAGES)[number] | undefined {
  if (offered(COMMANDS, may).some(({ to }) => to === path)) return undefined;
  const page = PAGES.find(({ to }) => to !== "/" && (path === to || path.startsWith(`${to}/`)));
  return page && offered([page], may).length === 0 ? page : undefined;
}

/** The entries of the bar of a phone that have a place in it; "More" has the rest. */
const BAR = 4;

/** Whether an entry stands in the bar itself. All do where "More" would have one entry only. */
export const isInBar = (at: number, count: number): boolean => at < BAR || count <= BAR + 1;
