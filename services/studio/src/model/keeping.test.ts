import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { idOf } from "./activities";
import { clipOf, clipText, copyOf, paste, readClip, wrap } from "./clipboard";
import { addActivity, connect, insertInto, move, remove, reorder, setMember } from "./commands";
import { addDeclaration, removeDeclaration, setDeclaration } from "./declarations";
import { type Edit, edit, redo, seal, startHistory, undo } from "./history";
import { isSame, type Json, type Members, readText, writeText } from "./json";
import { placesOf } from "./layout";
import { emptyFlowchart, newActivity } from "./make";
import { problemsOf } from "./problems";
import { indexOf, TYPES } from "./testing";
import { pageInside, pageOf, ROOT, viewOf } from "./view";

const OWN = join(import.meta.dirname, "../../../staunch/examples");
/** A folder with more exports to try. */
const MORE = process.env.STAUNCH_SAMPLES;

function filesIn(folder: string): [string, string][] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => [name, readFileSync(join(folder, name), "utf8")]);
}

const FILES = [...filesIn(OWN), ...(MORE ? filesIn(MORE) : [])];

const MADE = JSON.stringify({
  zeta: 1,
  definitionId: "made",
  root: {
    type: "Elsa.Flowchart",
    id: "flow",
    activities: [
      {
        id: "a",
        type: "Elsa.If",
        condition: { typeName: "Boolean", expression: { type: "Literal", value: true } },
        // biome-ignore lint/suspicious/noThenProperty: the port of Elsa.If has this name
        then: { id: "b", type: "Elsa.WriteLine" },
        metadata: { designer: { position: { x: 1.5, y: 2 } } },
      },
      {
        id: "c",
        type: "Elsa.Sequence",
        activities: [
          { id: "d", type: "Elsa.WriteLine" },
          { id: "e", type: "Elsa.Delay" },
        ],
      },
      {
        id: "f",
        type: "Elsa.Switch",
        cases: [
          {
            label: "One",
            condition: { type: "JavaScript", value: "1" },
            activity: { id: "g", type: "Elsa.End" },
          },
        ],
      },
      {
        id: "h",
        type: "Elsa.StateMachine",
        states: [{ name: "On", entry: { id: "i", type: "Elsa.WriteLine" } }, { name: "Off" }],
        transitions: [{ name: "go", from: "On", to: "Off" }],
      },
    ],
    connections: [
      {
        source: { activity: "a", port: "Done" },
        target: { activity: "c", port: "In" },
        vertices: [{ x: 1, y: 2 }],
      },
      { source: "c", target: "f", sourcePort: "Done", targetPort: "In" },
    ],
  },
});

describe("a definition that is opened and saved", () => {
  it.each([...FILES, ["made", MADE]])("%s is the same", (_, text) => {
    const doc = readText(text);
    const index = indexOf(doc);
    for (const entry of index.entries.values()) placesOf(viewOf(index, pageOf(index, entry.key)));
    problemsOf(index);
    expect(writeText(doc, "")).toBe(writeText(readText(writeText(doc)), ""));
    expect(JSON.parse(writeText(doc))).toEqual(JSON.parse(text));
    expect(withoutSpace(writeText(doc))).toBe(withoutSpace(escaped(text)));
  });

  it("keeps any JSON to the letter", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(writeText(readText(text), "")).toBe(text);
      }),
    );
    for (const text of [
      "1.50",
      "9223372036854775807",
      '{"b":1,"10":2,"2":3}',
      "1e3",
      "-0",
      '{"__proto__":1}',
    ]) {
      expect(writeText(readText(text), "")).toBe(text);
    }
  });

  it("says where a text is no JSON", () => {
    expect(() => readText('{\n  "a": 1,\n  b\n}')).toThrow(expect.objectContaining({ line: 3, column: 3 }));
  });
});

const withoutSpace = (text: string) => text.replace(/\s+/g, "");

/** Exports escape more characters than they must. */
const escaped = (text: string) =>
  text
    .replace(/\\u([0-9A-Fa-f]{4})/g, (whole, code: string) => {
      const sign = String.fromCharCode(Number.parseInt(code, 16));
      return sign < " " || sign === '"' || sign === "\\" ? whole : sign;
    })
    .replace(/\\u0022/gi, '\\"')
    .replace(/\\u005c/gi, "\\\\");

const NAMES = ["Elsa.WriteLine", "Elsa.If", "Elsa.Sequence", "Elsa.FlowDecision", "Elsa.Flowchart"];

/** One edit of many kinds, chosen by numbers. */
function someEdit(doc: Json, [kind, first, second, third]: [number, number, number, number]): Edit {
  const index = indexOf(doc);
  const keys = [...index.entries.keys()];
  const key = keys[first % Math.max(1, keys.length)] ?? "";
  const entry = index.get(key);
  const inside = entry && (Array.isArray(entry.activity.activities) || Array.isArray(entry.activity.states));
  const page =
    keys.length === 0 ? ROOT : second % 3 === 0 && inside ? pageInside(index, key) : pageOf(index, key);
  const view = viewOf(index, page);
  const items = view.items.map((item) => item.key);
  const one = items[second % Math.max(1, items.length)] ?? "";
  const other = items[third % Math.max(1, items.length)] ?? "";
  const type = TYPES.get(NAMES[third % NAMES.length] ?? "");
  const line = view.lines[third % Math.max(1, view.lines.length)];
  const id = `new${first}x${second}x${third}x${keys.length}`;
  switch (kind) {
    case 0:
      if (!type) throw new Error("no type");
      return addActivity(
        index,
        view,
        newActivity(type, id, { x: first, y: second }, true, id),
        one ? { after: { key: one, port: "Done" } } : {},
        "add",
      );
    case 1:
      return remove(index, view, [one, other], line ? [line.id] : [], "remove");
    case 2:
      return connect(index, view, one, "Done", other, "connect");
    case 3:
      return move(
        index,
        view,
        new Map(items.map((item, at) => [item, { x: at * first, y: at * second }])),
        "move",
      );
    case 4:
      return entry
        ? setMember(
            index,
            entry,
            ["text"],
            { typeName: "String", expression: { type: "Literal", value: String(third) } },
            "set",
          )
        : remove(index, view, [], [], "none");
    case 5:
      return paste(index, view, clipOf(view, items), { x: 10, y: 10 }, "paste", counter(id));
    case 6:
      return wrap(
        index,
        view,
        [one, other],
        third % 2 ? emptyFlowchart(id) : { id, type: "Elsa.Sequence" },
        "wrap",
      );
    case 7:
      return addDeclaration(index, "variables", "declare");
    case 8:
      return setDeclaration(index, "variables", 0, "name", `Name${second}`, "rename");
    case 9:
      return removeDeclaration(index, "variables", 0, "forget");
    case 10:
      return line
        ? insertInto(index, view, one, { line, port: "Done", at: { x: first, y: second } }, "insert")
        : remove(index, view, [], [], "none");
    default:
      return reorder(index, one, 1, "reorder");
  }
}

const counter = (prefix: string) => {
  let at = 0;
  return () => `${prefix}p${at++}`;
};

const number = fc.nat({ max: 40 });
const edits = fc.array(fc.tuple(fc.nat({ max: 11 }), number, number, number), { maxLength: 25 });

describe("edits", () => {
  it.each([...FILES, ["made", MADE]])("are undone and done again: %s", (_, text) => {
    const doc = readText(text);
    const before = writeText(doc);
    fc.assert(
      fc.property(edits, (choices) => {
        let history = startHistory(doc);
        for (const choice of choices) {
          const isDeclared =
            Array.isArray((history.doc as Members).variables) &&
            ((history.doc as Members).variables as Json[]).length > 0;
          if (choice[0] === 8 && !isDeclared) continue;
          history = seal(edit(history, someEdit(history.doc, choice)));
        }
        const after = writeText(history.doc);
        const ids = [...indexOf(history.doc).doubles];
        expect(ids).toEqual(indexOf(doc).doubles.length === 0 ? [] : ids);
        const count = history.past.length;
        while (history.past.length > 0) history = undo(history);
        expect(writeText(history.doc)).toBe(before);
        for (let at = 0; at < count; at++) history = redo(history);
        expect(writeText(history.doc)).toBe(after);
      }),
      { numRuns: 40 },
    );
  });

  it("of the letters of a word are undone together", () => {
    let history = startHistory(readText(MADE));
    for (const text of ["h", "he", "hel"]) {
      const index = indexOf(history.doc);
      const entry = index.get("b");
      if (entry) history = edit(history, setMember(index, entry, ["name"], text, "name"));
    }
    expect(history.past).toHaveLength(1);
    expect(isSame(undo(history).doc, readText(MADE))).toBe(true);
  });
});

it("a variable that is known by its name is not found under the old one, and keeps what refers to it", () => {
  const variable = { id: "Rate", name: "Rate" };
  const doc: Json = {
    variables: [variable, { id: "other", name: "Other" }],
    root: {
      id: "r",
      type: "Elsa.SetVariable",
      variable,
      value: { typeName: "Object", expression: { type: "Variable", value: variable } },
      other: { expression: { type: "Variable", value: { id: "other", name: "Other" } } },
      named: { expression: { type: "Variable", value: { name: "Rate" } } },
    },
  };
  let history = startHistory(doc);
  for (const name of ["R", "Ra", "Tariff"])
    history = edit(history, setDeclaration(indexOf(history.doc), "variables", 0, "name", name, "rename"));
  const text = writeText(history.doc, "");
  expect(text).not.toContain("Rate");
  expect(text.split('"Tariff"')).toHaveLength(5);
  const made = /"variables":\[\{"id":"(\w+)"/.exec(text)?.[1] ?? "";
  expect(text.split(made)).toHaveLength(4);
  expect(text.split('{"id":"other","name":"Other"}')).toHaveLength(3);
  expect(history.past).toHaveLength(1);
});

describe("a copy", () => {
  it("has new ids, and lines between them", () => {
    const index = indexOf(readText(MADE));
    const clip = readClip(clipText(clipOf(viewOf(index, ROOT), ["a", "c"])));
    if (!clip) throw new Error("no clip");
    const copy = copyOf(clip, index, counter("n"));
    expect(copy.activities.map(idOf)).toEqual(["np0", "np2"]);
    expect(writeText(copy.connections, "")).toContain('"source":{"activity":"np0"');
    expect(writeText(copy.activities, "")).toContain('"then":{"id":"np1"');
  });
});
