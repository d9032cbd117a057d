import type { Fault } from "../../../model/problems";
import type { Reason } from "../../../model/reasons";

/** The box of the inspector that the server calls `canStartWorkflow`. */
export const canStart = "Starts the workflow";

/** What the server says, with the words of the page beside its own. */
const said = (message: string): string =>
  message.replace("set canStartWorkflow", `set "${canStart}" (canStartWorkflow)`);

export function reason(one: Reason): string {
  switch (one.is) {
    case "cronValue":
      return `${one.text} is not a ${one.field} from ${one.from} to ${one.to}`;
    case "cronStep":
      return `/${one.text} is not a step of ${one.field}s`;
    case "cronOrder":
      return `${one.text} ends before it begins`;
    case "cronFields":
      return "a cron expression has 5 fields, or 6 with seconds";
    case "jsonEnd":
      return "the text ends too early";
    case "jsonValue":
      return "a value is expected here";
    case "jsonString":
      return "this string has no end";
    case "jsonEscape":
      return "this string has a character that needs an escape";
    case "jsonName":
      return "the name of a member is expected here";
    case "jsonRest":
      return "nothing more is expected here";
    case "jsonObject":
      return "a definition is an object";
    case "jsonRoot":
      return "root is to be an activity, which is an object";
    case "jsonSign":
      return `${one.signs.map((sign) => `"${sign}"`).join(" or ")} is expected here`;
    case "textEnd":
      return `line ${one.line}, column ${one.column}: this text has no end`;
    case "scriptEnd":
      return `line ${one.line}, column ${one.column}: the script ends too early`;
    case "notOpened":
      return `line ${one.line}, column ${one.column}: nothing opens this ${one.sign}`;
    case "notClosed":
      return `line ${one.line}, column ${one.column}: nothing closes this ${one.sign}`;
    case "noPartner":
      return `line ${one.line}, column ${one.column}: ${one.sign} has no partner`;
  }
}

const KINDS = {
  number: "a number",
  whole: "a whole number",
  boolean: "true or false",
  span: "a time span such as 00:05:00",
  time: "a time such as 2026-01-31T08:00:00Z",
  guid: "a unique id",
  status: "a status code: there are those from 100 to 599",
};

export function fault(one: Fault): string {
  switch (one.is) {
    case "type":
      return `There is no activity type ${one.type} on this server. Import what provides it, or remove the activity.`;
    case "double":
      return `Another activity has the id ${one.id}. Each needs its own.`;
    case "line":
      return `A line from ${one.from || "nowhere"} to ${one.to || "nowhere"} has an end that is not in this flowchart. Remove it, or add the activity.`;
    case "outcome":
      return `A line starts from the outcome ${one.outcome}, which this activity does not have. It has: ${one.outcomes.join(", ") || "none"}.`;
    case "unreached":
      return "This activity never runs: no line leads to it from the start.";
    case "literal":
      return `${one.input}: "${one.value}" is not ${KINDS[one.fault]}.`;
    case "json":
      return `${one.input}: this is not JSON. ${reason(one.reason)}`;
    case "cron":
      return `Cron expression: ${reason(one.reason)}.`;
    case "syntax":
      return `${one.input}: ${reason(one.reason)}.`;
    case "variable":
      return `${one.input}: there is no variable ${one.name} here.`;
    case "input":
      return `${one.input}: the workflow has no input ${one.name}.`;
    case "unchosen":
      return `${one.input}: no ${one.what} is chosen.`;
    case "name":
      return `Two ${one.kind}s have the name ${one.name}.`;
    case "empty":
      return "The workflow has no activities yet.";
    case "server":
      return one.input ? `${one.input}: ${said(one.message)}` : said(one.message);
    case "more":
      return "The server found more problems than it lists.";
  }
}
