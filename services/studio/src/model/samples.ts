import fc from "fast-check";
import { Exact, type Json, type Members, objectOf } from "./json";

/** Definitions as exports have them, and as they could be: any order of members, any numbers, unknown types. */

const TYPES = [
  "Elsa.Flowchart",
  "Elsa.Sequence",
  "Elsa.WriteLine",
  "Elsa.If",
  "Elsa.For",
  "Elsa.FlowDecision",
  "Elsa.FlowSwitch",
  "Elsa.Switch",
  "Elsa.StateMachine",
  "Acme.Unknown",
];
const NUMBERS = ["0", "-0", "1.0", "1.50", "1E3", "12345678901234567890", "-7.25", "480"];

const number = fc.constantFrom(...NUMBERS).map((text): Json => {
  const value = Number(text);
  return String(value) === text ? value : new Exact(text);
});
const word = fc.oneof(
  fc.constantFrom(
    "text",
    "condition",
    "version",
    "nodeId",
    "customProperties",
    "$type",
    "10",
    "2",
    "__proto__",
  ),
  fc.string({ maxLength: 6 }),
);
const plain: fc.Arbitrary<Json> = fc.oneof(
  number,
  fc.boolean(),
  fc.constant(null),
  fc.string({ maxLength: 12, unit: "grapheme" }),
);

/** An object whose members stand in the order in which they were drawn. */
function object(entries: fc.Arbitrary<[string, Json][]>): fc.Arbitrary<Members> {
  return entries.map((all) => objectOf([...new Map(all)]));
}

const free: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    plain,
    fc.array(tie("value"), { maxLength: 3 }),
    object(fc.array(fc.tuple(word, tie("value")), { maxLength: 3 })),
  ),
})).value;

const expression = object(
  fc
    .shuffledSubarray<[string, fc.Arbitrary<Json>]>(
      [
        ["typeName", fc.constantFrom("String", "Boolean", "Object")],
        ["memoryReference", object(fc.constant([["id", "m:1"]]))],
        [
          "expression",
          object(
            fc
              .tuple(fc.constantFrom("Literal", "JavaScript", "Liquid", "Variable", "Acme"), free)
              .map(([type, value]) => [
                ["type", type],
                ["value", value],
              ]),
          ),
        ],
      ],
      { minLength: 1 },
    )
    .chain((members) =>
      fc.tuple(...members.map(([name, value]) => value.map((one): [string, Json] => [name, one]))),
    ),
);

const metadata = object(
  fc.tuple(number, number, free).map(([x, y, more]): [string, Json][] => [
    ["more", more],
    ["designer", { position: { x, y }, size: { width: 200, height: 50 } }],
  ]),
);

let made = 0;
const id = fc.constant(null).map((): Json => `a${made++}`);
const end = fc.constantFrom("a0", "a1", "nowhere");

const connection: fc.Arbitrary<Json> = fc.oneof(
  fc.tuple(end, fc.constantFrom("Done", "True"), end, free).map(
    ([source, port, target, vertices]): Json => ({
      vertices,
      source: { activity: source, port },
      target: { activity: target, port: "In" },
    }),
  ),
  fc
    .tuple(end, end)
    .map(([source, target]): Json => ({ source, target, sourcePort: "Done", targetPort: "In" })),
);

const activity: fc.Arbitrary<Members> = fc.letrec<{ activity: Members }>((tie) => ({
  activity: fc
    .tuple(
      id,
      fc.constantFrom(...TYPES),
      fc.shuffledSubarray<[string, fc.Arbitrary<Json>]>([
        ["name", fc.string({ maxLength: 8 })],
        ["version", number],
        ["metadata", metadata],
        ["text", expression],
        ["condition", expression],
        ["extra", free],
        ["activities", fc.array(tie("activity"), { maxLength: 3, depthIdentifier: "inside" })],
        ["connections", fc.array(connection, { maxLength: 3 })],
        ["body", fc.oneof({ depthIdentifier: "inside", maxDepth: 3 }, fc.constant(null), tie("activity"))],
        ["cases", fc.array(free, { maxLength: 2 })],
        [
          "states",
          fc.array(fc.constantFrom<Json>({ name: "On" }, { name: "Off", entry: null }), { maxLength: 2 }),
        ],
      ]),
    )
    .chain(([key, type, members]) =>
      object(
        fc
          .tuple(...members.map(([name, value]) => value.map((one): [string, Json] => [name, one])))
          .map((rest) => [["type", type], ...rest, ["id", key]]),
      ),
    ),
})).activity;

/** A whole definition, as text. */
export const definitions: fc.Arbitrary<Members> = object(
  fc
    .tuple(activity, free, fc.array(free, { maxLength: 2 }))
    .map(([root, more, variables]): [string, Json][] => [
      ["$schema", "https://elsaworkflows.io/schemas/workflow-definition/v3.0.0/schema.json"],
      ["definitionId", "drawn"],
      ["variables", variables],
      ["root", root],
      ["customProperties", more],
    ]),
);
