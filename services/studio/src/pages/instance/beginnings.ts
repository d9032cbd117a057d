import { isActivity, type Members, members } from "../../graph/activities";

const FLOWCHART = new Set(["Elsa.Flowchart", "Flowchart"]);

/**
 * The activities at which a new instance can begin: those of the Flowchart that is the root. The server
 * refuses all others, because what contains them decides when they run.
 */
export function beginningsOf(root: unknown): Members[] {
  const { type, activities } = members(root) ?? {};
  if (typeof type !== "string" || !FLOWCHART.has(type) || !Array.isArray(activities)) return [];
  return activities.filter(isActivity);
}
