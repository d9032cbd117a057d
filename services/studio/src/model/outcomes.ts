import { typeOf } from "./activities";
import { type ActivityType, memberOf, shortType } from "./descriptors";
import { type Json, listOf, type Members, membersOf, textOf } from "./json";

/** The texts of a list input: written as a list, as JSON in a text, or separated by commas. */
export function literalList(value: Json | undefined): string[] {
  const wrapped = membersOf(value);
  if (wrapped && "expression" in wrapped) {
    const expression = membersOf(wrapped.expression);
    const type = textOf(expression?.type);
    return type === "Literal" || type === "Object" || type === "Json" ? literalList(expression?.value) : [];
  }
  if (Array.isArray(value)) return value.filter((item) => typeof item !== "object").map(String);
  if (typeof value === "number") return [String(value)];
  const text = textOf(value).trim();
  if (!text) return [];
  if (text.startsWith("[")) {
    try {
      return literalList(JSON.parse(text) as Json);
    } catch {
      return [];
    }
  }
  return text
    .split(/[,\n]/)
    .map((one) => one.trim())
    .filter(Boolean);
}

const EXPOSED: Readonly<Record<string, string>> = {
  "Request too large": "exposeRequestTooLargeOutcome",
  "File too large": "exposeFileTooLargeOutcome",
  "Invalid file extension": "exposeInvalidFileExtensionOutcome",
  "Invalid file MIME type": "exposeInvalidFileMimeTypeOutcome",
};

const labelsOf = (cases: Json | undefined): string[] =>
  listOf(cases)
    .map((one) => textOf(membersOf(one)?.label))
    .filter(Boolean);

function declared(activity: Members, type: ActivityType | undefined): string[] {
  const flow = (type?.ports ?? []).filter((port) => port.type === "Flow").map((port) => port.name);
  switch (typeOf(activity)) {
    case "Elsa.Fault":
      return [];
    case "Elsa.FlowSwitch":
      return [...labelsOf(activity.cases), "Default"];
    case "Elsa.FlowFork":
      return literalList(activity.branches);
    case "Elsa.RunJavaScript":
      return literalList(activity.possibleOutcomes);
    case "Elsa.FlowSendHttpRequest":
    case "Elsa.DownloadHttpFile": {
      const codes =
        activity.expectedStatusCodes === undefined ? ["200"] : literalList(activity.expectedStatusCodes);
      return [...codes, ...flow];
    }
    case "Elsa.HttpEndpoint":
      return flow.filter((port) => EXPOSED[port] === undefined || activity[memberOf(EXPOSED[port])] === true);
    default:
      return flow;
  }
}

/** The outcomes of an activity: what lines can start from. Those in use are never missing. */
export function outcomesOf(
  activity: Members,
  type: ActivityType | undefined,
  used: readonly string[] = [],
): string[] {
  const outcomes = declared(activity, type);
  const isEnd = type?.isTerminal || shortType(typeOf(activity)) === "Fault";
  if (outcomes.length === 0 && !isEnd) outcomes.push("Done");
  return [...new Set([...outcomes, ...used])];
}
