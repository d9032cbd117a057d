import { expect, test } from "vitest";
import { Index } from "./activities";
import { type ActivityType, type InputType, Types } from "./descriptors";
import type { Json } from "./json";
import { problemsOf } from "./problems";
import { TYPES } from "./testing";

const [some] = TYPES.all;
const input = (name: string, typeName: string, more: Partial<InputType> = {}): InputType => ({
  name,
  typeName,
  displayName: name,
  order: 0,
  isBrowsable: true,
  isReadOnly: false,
  isSensitive: false,
  isWrapped: true,
  uiHint: "singleline",
  uiSpecifications: {},
  defaultSyntax: "Literal",
  ...more,
});
const charge: ActivityType = {
  ...(some as ActivityType),
  typeName: "Acme.Charge",
  isContainer: false,
  inputs: [
    input("Card", "String"),
    input("Meta", "ObjectDictionary", {
      uiHint: "dictionary",
      uiSpecifications: { dictionary: { valueType: "Int64" } },
    }),
  ],
  outputs: [],
  ports: [],
};
const types = new Types([...TYPES.all, charge]);

const faultsOf = (activity: { [member: string]: Json }) => {
  const doc = {
    variables: [{ id: "v1", name: "Card" }],
    root: { id: "a", type: "Acme.Charge", ...activity },
  };
  return problemsOf(new Index(doc, types)).map(({ fault }) => fault);
};
const held = (type: string, value?: Json): Json => ({
  typeName: "String",
  expression: value === undefined ? { type } : { type, value },
});

test("a variable, an input or a secret that nobody has chosen is a problem", () => {
  for (const [type, what] of [
    ["Variable", "variable"],
    ["Input", "input"],
    ["Secret", "secret"],
  ] as const)
    expect(faultsOf({ card: held(type) })).toContainEqual({ is: "unchosen", input: "Card", what });
  expect(faultsOf({ card: held("Variable", { id: "v1", name: "Card" }) })).toEqual([]);
  expect(faultsOf({ card: held("Secret", { name: "key" }) })).toEqual([]);
});

test("a value of a dictionary that has not its type is a problem at its key", () => {
  const fault = { is: "literal", input: "Meta, weight", value: "heavy", fault: "whole", type: "Int64" };
  expect(faultsOf({ meta: held("Object", '{"weight":"heavy"}') })).toContainEqual(fault);
  expect(faultsOf({ meta: held("Object", '{"weight":5}') })).toEqual([]);
});
