import { Index } from "./activities";
import { type ActivityType, Types } from "./descriptors";
import type { Json } from "./json";

function type(
  typeName: string,
  inputs: [string, string][] = [],
  ports: [string, string][] = [["Done", "Flow"]],
  outputs: string[] = [],
): ActivityType {
  return {
    typeName,
    name: typeName.replace(/^Elsa\./, ""),
    version: 1,
    category: "Test",
    displayName: typeName.replace(/^Elsa\./, ""),
    kind: typeName === "Elsa.Cron" ? "Trigger" : "Action",
    isContainer: typeName === "Elsa.Flowchart" || typeName === "Elsa.Sequence",
    isBrowsable: true,
    isStart: typeName === "Elsa.Start",
    isTerminal: typeName === "Elsa.End",
    inputs: inputs.map(([name, inputType], order) => ({
      name,
      typeName: inputType,
      displayName: name,
      order,
      isBrowsable: true,
      isReadOnly: false,
      isSensitive: false,
      isWrapped: name !== "Cases" && name !== "Variable",
      uiHint: "singleline",
      uiSpecifications: {},
      defaultSyntax: "Literal",
    })),
    outputs: outputs.map((name) => ({ name, typeName: "Object", displayName: name, isBrowsable: true })),
    ports: ports.map(([name, kind]) => ({ name, displayName: name, type: kind, isBrowsable: true })),
    constructionProperties: {},
  };
}

/** A few types, as the server describes them. */
export const TYPES = new Types([
  type("Elsa.Flowchart"),
  type("Elsa.Sequence", [], []),
  type("Elsa.Start"),
  type("Elsa.End", [], []),
  type("Elsa.WriteLine", [["Text", "String"]]),
  type("Elsa.Delay", [["TimeSpan", "TimeSpan"]]),
  type("Elsa.Cron", [["CronExpression", "String"]]),
  type(
    "Elsa.For",
    [
      ["Start", "Int32"],
      ["End", "Int32"],
    ],
    [["Body", "Embedded"]],
    ["CurrentValue"],
  ),
  type(
    "Elsa.If",
    [["Condition", "Boolean"]],
    [
      ["Then", "Embedded"],
      ["Else", "Embedded"],
    ],
    ["Result"],
  ),
  type(
    "Elsa.FlowDecision",
    [["Condition", "Boolean"]],
    [
      ["True", "Flow"],
      ["False", "Flow"],
    ],
  ),
  type("Elsa.FlowSwitch", [["Cases", "Object[]"]], [["Default", "Flow"]]),
  type("Elsa.FlowFork", [["Branches", "String[]"]], []),
  type("Elsa.Switch", [["Cases", "Object"]], [["Default", "Embedded"]]),
  type("Elsa.SetVariable", [
    ["Variable", "Object"],
    ["Value", "Object"],
  ]),
  type("Elsa.Event", [["EventName", "String"]], [["Done", "Flow"]], ["Result"]),
  type("Elsa.StateMachine", [], [["Done", "Flow"]]),
]);

export const indexOf = (doc: Json): Index => new Index(doc, TYPES);
