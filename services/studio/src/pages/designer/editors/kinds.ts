import type { InputType } from "../../../model/descriptors";
import { isDictionary } from "../../../model/dictionary";
import { baseType, isList, isNumeric } from "../../../model/expressions";
import { isMembers } from "../../../model/json";

export type Kind =
  | "switch"
  | "number"
  | "choice"
  | "choices"
  | "list"
  | "json"
  | "dictionary"
  | "code"
  | "cron"
  | "lines"
  | "cases"
  | "variable"
  | "definition"
  | "output"
  | "text";

const BY_HINT: Readonly<Record<string, Kind>> = {
  checkbox: "switch",
  checklist: "choices",
  dropdown: "choice",
  "radio-list": "choice",
  radiolist: "choice",
  multitext: "list",
  "dynamic-outcomes": "list",
  "outcome-picker": "list",
  "json-editor": "json",
  "code-editor": "code",
  multiline: "lines",
  "multi-line": "lines",
  "switch-editor": "cases",
  "flow-switch-editor": "cases",
  "http-status-codes": "cases",
  "variable-picker": "variable",
  "workflow-definition-picker": "definition",
  "output-picker": "output",
};

const OBJECTS = /^(Object|ObjectDictionary)\[\]$/;

/** The editor that an input wants. */
export function kindOf(input: InputType): Kind {
  if (input.name === "CronExpression") return "cron";
  if (isDictionary(input)) return "dictionary";
  const kind = BY_HINT[input.uiHint];
  if (kind === "choice" && optionsOf(input).length === 0) return "text";
  if (kind) return kind;
  if (baseType(input.typeName) === "Boolean" && !input.isWrapped) return "switch";
  if (isNumeric(input.typeName)) return "number";
  // What is in such a list is no text.
  if (OBJECTS.test(input.typeName)) return "json";
  return isList(input.typeName) ? "list" : "text";
}

export interface Option {
  text: string;
  value: string;
}

function itemsIn(value: unknown): Option[] {
  if (!isMembers(value)) return [];
  const lists = [value.selectList, value.checkList, value.radioList, value];
  const list = lists.map((one) => (isMembers(one) ? (one.items ?? one.options) : one)).find(Array.isArray);
  return (list ?? []).flatMap((item): Option[] => {
    if (typeof item === "string") return [{ text: item, value: item }];
    return isMembers(item) ? [{ text: String(item.text ?? item.value), value: String(item.value) }] : [];
  });
}

/** The choices that the descriptor of an input names. */
export function optionsOf(input: InputType): Option[] {
  const settings = isMembers(input.uiSpecifications) ? Object.values(input.uiSpecifications) : [];
  const found = settings.map(itemsIn).find((items) => items.length > 0);
  return found ?? (input.options ?? []).map((value) => ({ text: value, value }));
}

/** The language of a value that is no expression. */
export function plainLanguage(input: InputType): "Literal" | "Object" {
  const kind = kindOf(input);
  return ["list", "choices", "json", "dictionary"].includes(kind) ? "Object" : "Literal";
}
