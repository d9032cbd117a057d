import type { Api } from "../../api/types";

type Group = Pick<
  Api["IncidentGroup"],
  "id" | "definitionId" | "activityId" | "activityNodeId" | "activityType" | "cause" | "code"
>;

/** A node id without the parts at its beginning that all of these have. */
function shortened(nodeIds: readonly string[]): string[] {
  const paths = nodeIds.map((one) => one.split(":"));
  const [first = []] = paths;
  const differs = first.findIndex((part, at) => paths.some((path) => path[at] !== part));
  // Where one ends within another, its last part stays.
  const shared = Math.min(differs < 0 ? first.length : differs, ...paths.map((path) => path.length - 1));
  return paths.map((path) => path.slice(shared).join(":"));
}

/** What tells groups apart that look the same, by the id of the group: the activity's id, or its place. */
export function toldApart(groups: readonly Group[]): Map<string, string> {
  const alike = new Map<string, Group[]>();
  for (const group of groups) {
    const look = JSON.stringify([group.definitionId, group.activityType, group.cause, group.code]);
    alike.set(look, [...(alike.get(look) ?? []), group]);
  }
  const told = new Map<string, string>();
  for (const rows of alike.values()) {
    if (rows.length < 2) continue;
    const ids = rows.map(({ activityId }) => activityId);
    const words =
      new Set(ids).size === ids.length ? ids : shortened(rows.map(({ activityNodeId }) => activityNodeId));
    rows.forEach(({ id }, at) => {
      told.set(id, words[at] ?? "");
    });
  }
  return told;
}
