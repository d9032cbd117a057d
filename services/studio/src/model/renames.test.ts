import { expect, test } from "vitest";
import { edit, startHistory, undo } from "./history";
import type { Json } from "./json";
import { type Renaming, renameInScripts, scriptsThatUse, withRename } from "./renames";

const script = (type: string, value: string): Json => ({ typeName: "String", expression: { type, value } });
const docWith = (...texts: Json[]): Json => ({
  variables: [{ id: "Tariff", name: "Tariff" }],
  root: { type: "Elsa.Sequence", activities: texts.map((text) => ({ type: "Elsa.WriteLine", text })) },
});

const after = (text: string, from = "Rate", to = "Tariff", kind: "variables" | "inputs" = "variables") => {
  const doc = docWith(script("JavaScript", text));
  const { doc: now } = edit(startHistory(doc), renameInScripts(doc, kind, from, to, "Rename"));
  return JSON.parse(JSON.stringify(now)).root.activities[0].text.expression.value as string;
};

test("each way to use a variable follows", () => {
  expect(after("variables.Rate.price + variables['Rate'].x")).toBe(
    "variables.Tariff.price + variables['Tariff'].x",
  );
  expect(after('getRate() + getVariable("Rate"); setRate(1); setVariable(`Rate`, 2)')).toBe(
    'getTariff() + getVariable("Tariff"); setTariff(1); setVariable(`Tariff`, 2)',
  );
  expect(after("getInput('Rate')", "Rate", "Tariff", "inputs")).toBe("getInput('Tariff')");
  expect(after("variables.a$b", "a$b", "$&x")).toBe("variables.$&x");
});

test("what only looks like it stays", () => {
  for (const text of [
    "variables.Rates",
    "my.variables.Rate",
    "forgetRate()",
    "Rate",
    "getInput('Rate')",
    "getRateOf()",
  ])
    expect(after(text)).toBe(text);
});

test("scripts are counted, in any language, and texts that are none are not", () => {
  const doc = docWith(
    script("JavaScript", "variables.Rate"),
    script("Liquid", "{{ Variables.Rate }}"),
    script("Literal", "variables.Rate"),
  );
  expect(scriptsThatUse(doc, "variables", "Rate")).toBe(2);
  expect(scriptsThatUse(doc, "variables", "Tariff")).toBe(0);
  expect(scriptsThatUse(doc, "variables", "")).toBe(0);
  const history = edit(startHistory(doc), renameInScripts(doc, "variables", "Rate", "Tariff", "Rename"));
  expect(scriptsThatUse(history.doc, "variables", "Rate")).toBe(0);
  expect(undo(history).doc).toEqual(doc);
});

test("the script of an activity is one", () => {
  const doc: Json = {
    root: { type: "Elsa.RunJavaScript", script: script("Literal", "setRate(1)") },
  };
  expect(scriptsThatUse(doc, "variables", "Rate")).toBe(1);
});

test("names that scripts may still use lead to the name of today", () => {
  const rename = (...pairs: [string, string][]) =>
    pairs
      .reduce((all: Renaming[], [from, to]) => withRename(all, { kind: "variables", from, to }), [])
      .map(({ from, to }) => [from, to]);
  expect(rename(["a", "b"], ["b", "c"])).toEqual([
    ["a", "c"],
    ["b", "c"],
  ]);
  expect(rename(["a", "b"], ["b", "a"])).toEqual([["b", "a"]]);
  expect(rename(["a", "b"], ["x", "y"])).toEqual([
    ["a", "b"],
    ["x", "y"],
  ]);
  const other = withRename([{ kind: "inputs", from: "a", to: "b" }], {
    kind: "variables",
    from: "b",
    to: "c",
  });
  expect(other).toHaveLength(2);
});
