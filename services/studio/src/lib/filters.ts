import type { Api, SubStatus } from "../api/types";
import { spanOf } from "./format";

/** The address of a page after `?`. */
export type Search = Record<string, string | undefined>;

export type Operator = Api["VariableFilter"]["operator"];

export interface ValueFilter {
  name: string;
  operator: Operator;
  value: string;
}

export const TIMES = ["CreatedAt", "UpdatedAt", "FinishedAt"] as const;
export const ORDERS = ["Created", "UpdatedAt", "Finished", "Name"] as const;
export const STATES: SubStatus[] = ["Pending", "Executing", "Suspended", "Finished", "Faulted", "Cancelled"];

export interface InstanceFilter {
  text?: string;
  definition?: string;
  version?: number;
  states: SubStatus[];
  incidents?: boolean;
  correlation?: string;
  name?: string;
  /** The instance that started them. */
  parent?: string;
  time: (typeof TIMES)[number];
  since?: string;
  until?: string;
  values: ValueFilter[];
  order: (typeof ORDERS)[number];
  ascending: boolean;
  page: number;
  /** Where the page begins, as the server said it: then no page before it is counted. */
  cursor?: string;
  /** Where the page before it begins: a little of it is read, too. */
  before?: string;
}

const SIGNS: [string, Operator][] = [
  ["^=", "prefix"],
  [">=", "gte"],
  ["<=", "lte"],
  ["!=", "ne"],
  ["=", "eq"],
  [">", "gt"],
  ["<", "lt"],
];

/** Reads `Amount>=100`; undefined where it is no comparison. */
export function comparisonOf(text: string): ValueFilter | undefined {
  const at = text.search(/[\^><!=]/);
  if (at <= 0) return undefined;
  for (const [sign, operator] of SIGNS) {
    if (text.startsWith(sign, at)) {
      const value = text.slice(at + sign.length).trim();
      return value ? { name: text.slice(0, at).trim(), operator, value } : undefined;
    }
  }
  return undefined;
}

/** How comparisons with the searchable variables of a definition begin. */
export function beginningsOf(
  variables: readonly { name: string; searchable?: string | null }[],
): readonly string[] {
  return variables.flatMap(({ name, searchable }) => {
    if (searchable === "boolean") return [`${name}=true`, `${name}=false`];
    if (searchable === "text") return [`${name}=`, `${name}^=`];
    return searchable ? [`${name}>=`, `${name}<=`] : [];
  });
}

export function valueText({ name, operator, value }: ValueFilter): string {
  const sign = SIGNS.find(([, one]) => one === operator)?.[0] ?? "=";
  return `${name}${sign}${value}`;
}

const escaped = (text: string) => text.replaceAll("\\", "\\\\").replaceAll(",", "\\,");

function split(text: string): string[] {
  const parts: string[] = [];
  let part = "";
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (sign === "\\") part += text.charAt(++at);
    else if (sign === ",") {
      parts.push(part);
      part = "";
    } else part += sign;
  }
  return [...parts, part].filter(Boolean);
}

function oneOf<T extends string>(all: readonly T[], text: string | undefined, otherwise: T): T {
  return all.find((one) => one === text) ?? otherwise;
}

const whole = (text: string | undefined) => (text && /^\d+$/.test(text) ? Number(text) : undefined);

/** The largest number of a version. */
const VERSION_MAX = 2_147_483_647;

/** The number of a version; undefined where no version can have it. */
export function versionOf(text: string | undefined): number | undefined {
  const version = whole(text);
  return version !== undefined && version <= VERSION_MAX ? version : undefined;
}

export function fromAddress(search: Search): InstanceFilter {
  const states = split(search.state ?? "");
  return {
    text: search.q || undefined,
    definition: search.definition || undefined,
    version: versionOf(search.version),
    states: STATES.filter((one) => states.includes(one)),
    incidents: search.incidents === "yes" ? true : search.incidents === "no" ? false : undefined,
    correlation: search.correlation || undefined,
    name: search.name || undefined,
    parent: search.parent || undefined,
    time: oneOf(TIMES, search.time, "CreatedAt"),
    since: search.since || undefined,
    until: search.until || undefined,
    values: split(search.values ?? "").flatMap((one) => comparisonOf(one) ?? []),
    order: oneOf(ORDERS, search.order, "Created"),
    ascending: search.dir === "up",
    page: whole(search.page) ?? 0,
    cursor: search.cursor || undefined,
    before: search.before || undefined,
  };
}

/** What an address has besides filters that can be read in one way only. */
const TAKEN = ["q", "definition", "correlation", "name", "parent", "cursor", "before", "plan"];

/** The parts of an address that are no filter: the list is shown as if they were not there. */
export function ignoredIn(search: Search, now: number): Search {
  const filter = fromAddress(search);
  const isTime = (text: string) => timeOf(text, now) !== undefined;
  const isRead: Record<string, (text: string) => boolean> = {
    version: () => filter.version !== undefined,
    state: (text) => split(text).length === filter.states.length,
    incidents: () => filter.incidents !== undefined,
    time: (text) => text === filter.time,
    since: isTime,
    until: isTime,
    values: (text) => split(text).length === filter.values.length,
    order: (text) => text === filter.order,
    dir: (text) => text === "up",
    page: (text) => whole(text) !== undefined,
  };
  return Object.fromEntries(
    Object.entries(search).filter(
      ([name, text]) =>
        text && !TAKEN.includes(name) && !(Object.hasOwn(isRead, name) && isRead[name]?.(text)),
    ),
  );
}

/** Only what differs from the default stands in the address. */
export function toAddress(filter: InstanceFilter): Search {
  return {
    q: filter.text,
    definition: filter.definition,
    version: filter.version?.toString(),
    state: filter.states.length ? filter.states.join(",") : undefined,
    incidents: filter.incidents === undefined ? undefined : filter.incidents ? "yes" : "no",
    correlation: filter.correlation,
    name: filter.name,
    parent: filter.parent,
    time: filter.time === "CreatedAt" ? undefined : filter.time,
    since: filter.since,
    until: filter.until,
    values: filter.values.map((one) => escaped(valueText(one))).join(",") || undefined,
    order: filter.order === "Created" ? undefined : filter.order,
    dir: filter.ascending ? "up" : undefined,
    page: filter.page > 0 ? filter.page.toString() : undefined,
    cursor: filter.page > 0 ? filter.cursor : undefined,
    before: filter.page > 1 ? filter.before : undefined,
  };
}

/** A span before now (`2h`) or a time, as the server reads it. */
export function timeOf(text: string, now: number): string | undefined {
  const span = spanOf(text);
  const at = new Date(span === undefined ? text : now - span);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** Whether its span ends before it begins: nothing can be in it. */
export function isSpanEmpty({ since, until }: Pick<InstanceFilter, "since" | "until">, now: number): boolean {
  const [from, to] = [since && timeOf(since, now), until && timeOf(until, now)];
  return Boolean(from && to && Date.parse(from) > Date.parse(to));
}

function timesOf(filter: InstanceFilter, now: number): Api["TimestampFilter"][] {
  const bounds: [string | undefined, "GreaterThanOrEqual" | "LessThanOrEqual"][] = [
    [filter.since, "GreaterThanOrEqual"],
    [filter.until, "LessThanOrEqual"],
  ];
  return bounds.flatMap(([text, operator]) => {
    const timestamp = text && timeOf(text, now);
    return timestamp ? [{ column: filter.time, operator, timestamp }] : [];
  });
}

export function toRequest(filter: InstanceFilter, now: number, pageSize: number): Api["ListRequest"] {
  const place = filter.page > 0 && filter.cursor ? { cursor: filter.cursor } : { page: filter.page };
  return {
    ...place,
    pageSize,
    searchTerm: filter.text,
    definitionId: filter.definition,
    version: filter.version,
    subStatuses: filter.states.length ? filter.states : undefined,
    hasIncidents: filter.incidents,
    correlationId: filter.correlation,
    name: filter.name,
    parentWorkflowInstanceId: filter.parent,
    timestampFilters: timesOf(filter, now),
    variableFilters: filter.values,
    orderBy: filter.order,
    orderDirection: filter.ascending ? "Ascending" : "Descending",
  };
}

/** Only what began until now: what comes while a list is worked on does not belong to it. */
const begun = (now: number): Api["TimestampFilter"] => ({
  column: "CreatedAt",
  operator: "LessThanOrEqual",
  timestamp: new Date(now).toISOString(),
});

/** The request that counts what `toPlanFilter` selects. */
export function toCountRequest(filter: InstanceFilter, now: number): Api["ListRequest"] {
  const request = toRequest({ ...filter, page: 0, cursor: undefined }, now, 0);
  return { ...request, timestampFilters: [...timesOf(filter, now), begun(now)] };
}

/**
 * The filter that changes or removes all instances that match now. It has no number of a version: one of a
 * definition goes by its id, `versionId`, and without it nothing can be selected.
 */
export function toPlanFilter(
  filter: InstanceFilter,
  now: number,
  versionId?: string,
): Api["PlanFilter"] | undefined {
  if (filter.version !== undefined && versionId === undefined) return undefined;
  return {
    definitionVersionIds: versionId === undefined ? undefined : [versionId],
    searchTerm: filter.text,
    definitionIds: filter.definition ? [filter.definition] : undefined,
    subStatuses: filter.states.length ? filter.states : undefined,
    hasIncidents: filter.incidents,
    correlationIds: filter.correlation ? [filter.correlation] : undefined,
    names: filter.name ? [filter.name] : undefined,
    parentWorkflowInstanceIds: filter.parent ? [filter.parent] : undefined,
    timestampFilters: [...timesOf(filter, now), begun(now)],
    variableFilters: filter.values,
    emptyFilterSelectsAll: true,
  };
}
