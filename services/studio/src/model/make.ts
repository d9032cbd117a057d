import { childrenMember, type Index, isFlowchart, isMachine } from "./activities";
import { type ActivityType, memberOf, shortType } from "./descriptors";
import { isMembers, type Json, type Members, namesOf } from "./json";
import type { Point } from "./view";

/** A new id, in the form of Elsa's: 16 hex digits. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** `WriteLine1`, `WriteLine2` …: the first that no activity has. */
export function freeName(index: Index, typeName: string, taken: ReadonlySet<string> = new Set()): string {
  const names = new Set([...index.entries.values()].map((entry) => entry.activity.name));
  const short = shortType(typeName);
  for (let at = 1; ; at++) {
    const name = `${short}${at}`;
    if (!names.has(name) && !taken.has(name)) return name;
  }
}

export function emptyFlowchart(id: string): Members {
  return {
    type: "Elsa.Flowchart",
    version: 1,
    id,
    metadata: {},
    customProperties: { canStartWorkflow: false, runAsynchronously: false },
    activities: [],
    connections: [],
  };
}

export function newActivity(
  type: ActivityType,
  name: string,
  at: Point | undefined,
  isStart: boolean,
  id = newId(),
): Members {
  const activity: Members = {
    id,
    name,
    type: type.typeName,
    version: type.version,
    customProperties: { canStartWorkflow: isStart && type.kind === "Trigger", runAsynchronously: false },
    metadata: at ? { designer: { position: { x: at.x, y: at.y } } } : {},
  };
  const made = type.constructionProperties;
  // The server writes their names with a capital: as members they have none, and replace those of one name.
  if (isMembers(made)) for (const name of namesOf(made)) activity[memberOf(name)] = made[name] ?? null;
  const list = childrenMember(activity);
  if (list) activity[list] = [];
  if (isFlowchart(activity)) activity.connections = [];
  if (isMachine(activity)) Object.assign(activity, { states: [], transitions: [] } satisfies Members);
  return activity;
}

/** Members of a definition that only the server sets. */
export const SET_BY_SERVER = [
  "id",
  "version",
  "createdAt",
  "publishedAt",
  "savedAt",
  "isLatest",
  "isPublished",
  "isReadonly",
  "isSystem",
];

export function newDefinition(definitionId: string, name: string): Members {
  const lists: [string, Json][] = ["variables", "inputs", "outputs", "outcomes"].map((member) => [
    member,
    [],
  ]);
  return {
    definitionId,
    name,
    ...Object.fromEntries(lists),
    customProperties: {},
    options: { autoUpdateConsumingWorkflows: false },
    root: emptyFlowchart(newId()),
  };
}
