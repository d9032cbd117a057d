import type { Api } from "../../api/types";
import { type InstanceFilter, timeOf, toRequest, valueText } from "../../lib/filters";
import { changes, quoted, staunch } from "../../lib/shell";
import type { Commands } from "../../ui/Code";
import { cancelLines, deleteLines, retryLines } from "../instance/lines";

/** The most instances that a line lists. */
const LISTED = 50;

/** The times of instances, as `--by` of `staunch instance ls` names them. */
const BY = { CreatedAt: undefined, UpdatedAt: "updated", FinishedAt: "finished" } as const;

/** The filter as options of `staunch instance ls`; undefined where it has a part for which there is none. */
function optionsOf(filter: InstanceFilter, now: number): string | undefined {
  const { states, version, incidents, name, parent, since, until } = filter;
  if (states.length > 1 || [version, incidents, name, parent].some((one) => one !== undefined))
    return undefined;
  const [from, to] = [since && timeOf(since, now), until && timeOf(until, now)];
  const options: [string, string | undefined][] = [
    ["definition", filter.definition],
    ["status", states[0]],
    ["correlation-id", filter.correlation],
    ["search", filter.text],
    ...filter.values.map((one): [string, string] => ["where", valueText(one)]),
    ["since", from],
    ["until", to],
    ["by", from || to ? BY[filter.time] : undefined],
  ];
  return options.flatMap(([option, text]) => (text ? [` --${option} ${quoted(text)}`] : [])).join("");
}

/** The same list from a terminal. */
export function listLines(filter: InstanceFilter, now: number): Commands {
  const options = optionsOf(filter, now);
  const request = toRequest({ ...filter, page: 0, cursor: undefined }, now, LISTED);
  return {
    staunch: options === undefined ? null : staunch(`instance ls${options}`),
    ...changes("POST", "/workflow-instances/query", request),
  };
}

/** The plan of `staunch` for these instances. */
const planLine = (alteration: Record<string, unknown>, filter: Api["PlanFilter"]) =>
  staunch(
    `instance plan submit ${quoted(JSON.stringify([alteration]))} --filter ${quoted(JSON.stringify(filter))}`,
  );

const removalLine = (filter: Api["PlanFilter"]) =>
  staunch(`instance rm --filter ${quoted(JSON.stringify(filter))}`);

/** The lines of what is done to these instances; a retry may be of one activity. */
export function manyLines(
  deed: "cancel" | "retry" | "delete",
  ids: readonly string[],
  activity?: string,
): Commands {
  const [only] = ids;
  if (only !== undefined && ids.length === 1) {
    if (deed === "cancel") return cancelLines(only, "");
    return deed === "retry" ? retryLines(only, activity) : deleteLines(only);
  }
  const filter = { workflowInstanceIds: [...ids] };
  if (deed === "delete")
    return {
      staunch: removalLine(filter),
      ...changes("POST", "/bulk-actions/delete/workflow-instances", { ids }),
    };
  if (deed === "cancel")
    return {
      staunch: planLine({ type: "Cancel" }, filter),
      ...changes("POST", "/bulk-actions/cancel/workflow-instances", { ids }),
    };
  const activityIds = activity === undefined ? undefined : [activity];
  return {
    staunch: planLine({ type: "Retry", activityIds }, filter),
    ...changes("POST", "/alterations/workflows/retry", { ...filter, activityIds }),
  };
}

/** The lines of what is done to all instances that a filter selects. */
export function allLines(deed: "cancelAll" | "retryAll" | "deleteAll", filter: Api["PlanFilter"]): Commands {
  if (deed === "deleteAll")
    return {
      staunch: removalLine(filter),
      ...changes("POST", "/bulk-actions/delete/workflow-instances/by-filter", filter),
    };
  const alteration = { type: deed === "cancelAll" ? "Cancel" : "Retry" };
  return {
    staunch: planLine(alteration, filter),
    ...changes("POST", "/alterations/submit", { filter, alterations: [alteration] }),
  };
}
