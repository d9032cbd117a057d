import { type InstanceFilter, toRequest, valueText } from "../../lib/filters";
import { curlJson, quoted, staunch } from "../../lib/shell";
import type { Commands } from "../../ui/Code";

/** The most instances that a line lists. */
const LISTED = 50;

/** The filter as options of `staunch instance ls`; undefined where it has a part for which there is none. */
function optionsOf(filter: InstanceFilter): string | undefined {
  const { states, version, incidents, name, parent, since, until } = filter;
  if (states.length > 1 || [version, incidents, name, parent, since, until].some((one) => one !== undefined))
    return undefined;
  const options: [string, string | undefined][] = [
    ["definition", filter.definition],
    ["status", states[0]],
    ["correlation-id", filter.correlation],
    ["search", filter.text],
    ...filter.values.map((one): [string, string] => ["where", valueText(one)]),
  ];
  return options.flatMap(([option, text]) => (text ? [` --${option} ${quoted(text)}`] : [])).join("");
}

/** The same list from a terminal. */
export function listLines(filter: InstanceFilter, now: number): Commands {
  const options = optionsOf(filter);
  const request = toRequest({ ...filter, page: 0, cursor: undefined }, now, LISTED);
  return {
    staunch: options === undefined ? null : staunch(`instance ls${options}`),
    nats: "nats sub 'staunch.event.>'",
    curl: curlJson("/workflow-instances/query", request),
  };
}
