/** What permissions are for, in the order in which a form shows them. */
export const AREAS = [
  "all",
  "definitions",
  "instances",
  "schedules",
  "messages",
  "tasks",
  "secrets",
  "access",
  "cluster",
  "catalog",
  "other",
] as const;

export type Area = (typeof AREAS)[number];

/** The area of each noun, the part of a permission after its verb. */
const AREA_OF: Record<string, Area> = {
  "workflow-definitions": "definitions",
  "workflow-definition-labels": "definitions",
  labels: "definitions",
  tests: "definitions",
  "workflow-instances": "instances",
  "activity-execution": "instances",
  alterations: "instances",
  event: "instances",
  payloads: "instances",
  schedules: "schedules",
  "bookmark-queue": "messages",
  poll: "tasks",
  complete: "tasks",
  "activity-types": "tasks",
  secrets: "secrets",
  user: "access",
  role: "access",
  application: "access",
  "api-keys": "access",
  audit: "access",
  nodes: "cluster",
  "workflow-runtime": "cluster",
  "cluster-validation": "cluster",
  "installed-features": "cluster",
  resilience: "instances",
};

/** What a permission is for; one that no page of Studio is about is for the catalog of the designer. */
export function areaOf(permission: string): Area {
  if (permission === "*" || permission.endsWith(":*")) return "all";
  if (permission === "ManageWorkflowRuntime") return "cluster";
  return AREA_OF[permission.split(":")[1] ?? ""] ?? "catalog";
}

/** Permissions that can be given: those of routes, and with them all of a verb, where one has these. */
export function givable(permissions: readonly string[], granted: readonly string[]): string[] {
  const verbs = permissions.flatMap((one) => (one.includes(":") ? [`${one.split(":")[0]}:*`] : []));
  const wide = granted.includes("*") ? ["*", ...new Set(verbs)] : granted.filter((one) => one.endsWith(":*"));
  return [...new Set([...wide, ...permissions])];
}

/** The permissions of each area that have this text; chosen ones that are not known are in the last one. */
export function grouped(
  known: readonly string[],
  chosen: readonly string[],
  search: string,
): [Area, string[]][] {
  const wanted = search.trim().toLowerCase();
  const has = (one: string) => one.toLowerCase().includes(wanted);
  const others = chosen.filter((one) => !known.includes(one));
  return AREAS.flatMap((area): [Area, string[]][] => {
    const all = area === "other" ? others : known.filter((one) => areaOf(one) === area);
    const shown = all.filter(has).sort();
    return shown.length > 0 ? [[area, shown]] : [];
  });
}

/** Whether who was granted this has a permission: by its name, with all of its verb, or with everything. */
const covers = (granted: readonly string[], one: string): boolean =>
  granted.includes("*") || granted.includes(one) || granted.includes(`${one.split(":")[0]}:*`);

/** What a role may do of an area: those that it has, and how many there are. */
export interface Share {
  has: string[];
  of: number;
}

/** What roles may do, area by area; only areas in which there is something. */
export function matrixOf(roles: readonly (readonly string[])[], known: readonly string[]): [Area, Share[]][] {
  const names = [...new Set([...known, ...roles.flat()])].filter((one) => areaOf(one) !== "all").sort();
  // What only an endpoint names, the server does not list.
  const placeOf = (one: string): Area =>
    areaOf(one) === "catalog" && !known.includes(one) ? "other" : areaOf(one);
  return AREAS.flatMap((area): [Area, Share[]][] => {
    const all = names.filter((one) => placeOf(one) === area);
    if (all.length === 0) return [];
    const shares = roles.map((granted) => ({
      has: all.filter((one) => covers(granted, one)),
      of: all.length,
    }));
    return [[area, shares]];
  });
}

/** Whether a text can be the permission that the `policy` of an endpoint names. */
export function isOther(text: string, known: readonly string[]): boolean {
  return /^\S{1,200}$/.test(text) && !known.includes(text);
}

/** The permissions that a refusal of the server calls wrong, without the list of all right ones. */
export function wrongIn(detail: string): string[] {
  if (!/: there is no such permission;/.test(detail)) return [];
  const quoted = /^permission ("(?:[^"\\]|\\.)*")/i.exec(detail)?.[1];
  if (!quoted) return [];
  try {
    return [String(JSON.parse(quoted))];
  } catch {
    return [quoted];
  }
}

/** The id that the server makes from the name of a role. */
export function idOf(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
    .join("-")
    .toLowerCase();
}
