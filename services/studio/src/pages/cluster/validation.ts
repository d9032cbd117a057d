import { ORIGIN } from "../../api/base";
import { Problem } from "../../api/problem";
import type { ServerEvent } from "../../api/sse";
import { isObject } from "../../lib/json";
import { curl, quoted } from "../../lib/shell";
import { t } from "../../text";
import type { Commands } from "../../ui/Code";

export const PERMISSION = "exec:cluster-validation";
export const PATH = "/cluster/validation";
const REQUEST = `POST ${PATH}`;

const CLEANUP = "cleanup";

/** The parts in their order, as the server names them. */
const PARTS = [
  "1 distributed runtime",
  "2 scheduled tasks",
  "3 cache invalidation",
  "4 failover",
  "5 high availability",
  "6 distributed lock",
  CLEANUP,
] as const;

export type Result = "ok" | "failed" | "skipped";
export type PartState = Result | "pending" | "running" | "unfinished" | "untouched" | "handed";

export interface Check {
  name: string;
  result: Result;
  figures: string;
}

export interface Part {
  name: string;
  isBegun: boolean;
  checks: readonly Check[];
}

export type Counts = Record<Result, number>;

/** How a run ended. Only a complete one has a verdict. */
export type End =
  | { is: "complete"; counts: Counts }
  | { is: "stopped" }
  | { is: "ended"; reason: string }
  | { is: "broken"; problem: Problem };

/** One validation, as far as it was seen. */
export interface Run {
  begunAt: string;
  endedAt?: string;
  /** The beginning of all names that it makes; unknown until the nodes have answered. */
  name?: string;
  nodes: readonly { node: string; url: string }[];
  executors: readonly string[];
  parts: readonly Part[];
  /** The part that runs. */
  part?: string;
  doing?: string;
  end?: End;
}

export type Action = { at: string } & (
  | { is: "begin" }
  | { is: "event"; event: ServerEvent }
  | { is: "stop" }
  | { is: "break"; problem: Problem }
);

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(textOf) : []);

function dataOf(event: ServerEvent): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(event.data);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Changes the part of this name; one of a newer server is added. */
function change(parts: readonly Part[], name: string, to: (part: Part) => Part): Part[] {
  const isKnown = parts.some((part) => part.name === name);
  const all = isKnown ? parts : [...parts, { name, isBegun: false, checks: [] }];
  return all.map((part) => (part.name === name ? to(part) : part));
}

const begin = (parts: readonly Part[], name: string): Part[] =>
  change(parts, name, (part) => ({ ...part, isBegun: true }));

/** Adds a check. A result that is not known counts as failed. */
function add(parts: readonly Part[], data: Record<string, unknown>): Part[] {
  const result = data.result === "ok" || data.result === "skipped" ? data.result : "failed";
  const check: Check = { name: textOf(data.check), result, figures: textOf(data.figures) };
  return change(parts, textOf(data.part), (part) => ({
    ...part,
    isBegun: true,
    checks: [...part.checks, check],
  }));
}

export function countsOf(parts: readonly Part[]): Counts {
  const counts: Counts = { ok: 0, failed: 0, skipped: 0 };
  for (const { checks } of parts) for (const { result } of checks) counts[result] += 1;
  return counts;
}

const close = (run: Run, at: string, end: End): Run => ({ ...run, endedAt: at, doing: undefined, end });

/** The end of a complete run has all checks again: they count, not those that were seen. */
function complete(run: Run, at: string, data: Record<string, unknown> | undefined): Run {
  const checks = data?.checks;
  const failed = data?.failed;
  if (!Array.isArray(checks) || !checks.every(isObject) || typeof failed !== "number") {
    const problem = new Problem(0, t.validation.unreadable, t.validation.unreadableDetail, REQUEST);
    return close(run, at, { is: "broken", problem });
  }
  const empty: readonly Part[] = run.parts.map((part) => ({ ...part, checks: [] }));
  const parts = checks.reduce<readonly Part[]>(add, empty);
  const counts = countsOf(parts);
  const end: End = { is: "complete", counts: { ...counts, failed: Math.max(counts.failed, failed) } };
  return close({ ...run, parts, part: undefined }, at, end);
}

function take(run: Run, at: string, event: ServerEvent): Run {
  const data = dataOf(event);
  if (event.name === "done") return complete(run, at, data);
  if (event.name === "end") return close(run, at, { is: "ended", reason: textOf(data?.reason) });
  if (!data) return run;
  switch (event.name) {
    case "begun": {
      const nodes = Array.isArray(data.nodes) ? data.nodes.filter(isObject) : [];
      return {
        ...run,
        name: textOf(data.run),
        nodes: nodes.map(({ node, url }) => ({ node: textOf(node), url: textOf(url) })),
        executors: textsOf(data.executors),
      };
    }
    case "part": {
      const part = textOf(data.part);
      return { ...run, part, doing: undefined, parts: begin(run.parts, part) };
    }
    case "doing":
      return { ...run, doing: textOf(data.text) };
    case "check":
      return { ...run, doing: undefined, parts: add(run.parts, data) };
    default:
      return run;
  }
}

/** What the page shows after an action. A run that is over stays as it is until the next one begins. */
export function next(run: Run | undefined, action: Action): Run | undefined {
  const { at } = action;
  if (action.is === "begin") {
    const parts = PARTS.map((name) => ({ name, isBegun: false, checks: [] }));
    return { begunAt: at, nodes: [], executors: [], parts };
  }
  if (!run || run.end) return run;
  if (action.is === "event") return take(run, at, action.event);
  if (action.is === "stop") return close(run, at, { is: "stopped" });
  return close(run, at, { is: "broken", problem: action.problem });
}

export const isRunning = (run: Run | undefined): run is Run => run !== undefined && run.end === undefined;

export const isPassed = ({ failed, ok }: Counts): boolean => failed === 0 && ok > 0;

export function stateOfPart(run: Run, { name, checks, isBegun }: Part): PartState {
  if (checks.some(({ result }) => result === "failed")) return "failed";
  // Once it is stopped, the server cleans up by itself, and tells nobody.
  if (name === CLEANUP && run.end?.is === "stopped" && run.name !== undefined) return "handed";
  if (!isBegun) return run.end ? "untouched" : "pending";
  if (run.part === name) return run.end ? "unfinished" : "running";
  if (checks.length === 0) return "untouched";
  return checks.every(({ result }) => result === "skipped") ? "skipped" : "ok";
}

export const partWord = (name: string): string => t.validation.parts[name] ?? name;

/** What is read out: each part, each failure, and the end. */
export function announced(run: Run | undefined): string {
  if (!run) return "";
  const { announce, counted, failed, passed, stopped } = t.validation;
  const { end } = run;
  if (!end) {
    return run.part ? announce.at(partWord(run.part), countsOf(run.parts).failed) : announce.asking;
  }
  if (end.is === "complete") {
    const { counts } = end;
    return `${isPassed(counts) ? passed : failed} ${counted(counts.ok, counts.failed, counts.skipped)}.`;
  }
  if (end.is === "stopped") return stopped;
  return announce.broken(end.is === "ended" ? end.reason : end.problem.title);
}

/** The same from a terminal, for the nodes at these addresses. */
export function linesOf(urls: readonly string[]): Commands {
  const nodes = urls.length > 0 ? urls : [ORIGIN];
  return {
    staunch: [`staunch validate --nodes ${nodes.map(quoted).join(",")}`, "staunch validate --local 3"],
    curl: curl(PATH, "-N -X POST"),
  };
}
