import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { isSame, membersOf, readText, writeText } from "../../model/json";
import { definitions } from "../../model/samples";
import { TYPES } from "../../model/testing";
import { pageInside, pageOf } from "../../model/view";
import { saveDefinition } from "./api";
import {
  addState,
  addType,
  alignSelected,
  arrangeAll,
  connectTo,
  copySelected,
  duplicateSelected,
  nudge,
  openAbove,
  openInside,
  pasteText,
  removeSelected,
  selectAlong,
  wrapSelected,
} from "./deeds";
import { Studio } from "./store";

const OWN = join(import.meta.dirname, "../../../../staunch/examples");
const FOLDERS = [OWN, ...(process.env.STAUNCH_SAMPLES ? [process.env.STAUNCH_SAMPLES] : [])];
const FILES = FOLDERS.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name): [string, string] => [name, readFileSync(join(folder, name), "utf8")]),
);

afterEach(() => vi.unstubAllGlobals());

/** What is sent when this studio saves. */
async function sent(studio: Studio): Promise<string> {
  let body = "";
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    body = String(init.body);
    return new Response("{}", { status: 200 });
  });
  await saveDefinition(membersOf(studio.get().history.doc) ?? {}, undefined, false);
  return body;
}

/** Everything that one can look at. */
function lookAround(studio: Studio): void {
  const { index } = studio.get();
  for (const key of index.entries.keys()) {
    studio.open(pageOf(index, key), [key]);
    selectAlong(studio, "ArrowRight");
    selectAlong(studio, "ArrowDown");
    copySelected(studio);
    openInside(studio);
    studio.open(pageInside(index, key));
    studio.select(
      studio.get().view.items.map((item) => item.key),
      studio.get().view.lines.map((line) => line.id),
    );
    openAbove(studio);
    studio.reveal(key);
  }
}

const opened = (doc: ReturnType<typeof readText>) => new Studio(doc, TYPES, doc, '"1"');

/** What a person does with what is selected; each is undone again. */
const DEEDS: ((studio: Studio) => void)[] = [
  (studio) => nudge(studio, 8, -8),
  (studio) => removeSelected(studio),
  (studio) => duplicateSelected(studio),
  (studio) => arrangeAll(studio),
  (studio) => wrapSelected(studio, "Elsa.Sequence"),
  (studio) => alignSelected(studio, "left"),
  (studio) => pasteText(studio, copySelected(studio) ?? ""),
  (studio) => {
    const type = TYPES.get("Elsa.WriteLine");
    if (type) addType(studio, type);
  },
  (studio) => {
    const [one, other] = studio.get().view.items;
    if (one && other) connectTo(studio, one.key, undefined, other.key);
  },
  (studio) => {
    if (studio.get().view.kind === "machine") addState(studio, undefined, {});
  },
];

const choices = fc.array(fc.tuple(fc.nat({ max: DEEDS.length - 1 }), fc.nat({ max: 30 })), { maxLength: 12 });

function doAndUndo(studio: Studio, all: [number, number][]): void {
  for (const [deed, at] of all) {
    const keys = [...studio.get().index.entries.keys()];
    const key = keys[at % Math.max(1, keys.length)];
    if (key !== undefined) studio.reveal(key);
    DEEDS[deed]?.(studio);
    studio.seal();
  }
  while (studio.get().history.past.length > 0) studio.undo();
}

describe("what is opened and saved without a change", () => {
  it.each(FILES)("%s is sent as it was written", async (_, text) => {
    const doc = readText(text);
    const studio = opened(doc);
    lookAround(studio);
    expect(studio.isDirty()).toBe(false);
    expect(await sent(studio)).toBe(`{"model":${writeText(doc, "")},"publish":false}`);
    expect(JSON.parse(await sent(studio)).model).toEqual(JSON.parse(text));
  });

  it.each(FILES)("%s is the same after any edits that were undone", async (_, text) => {
    const doc = readText(text);
    await fc.assert(
      fc.asyncProperty(choices, async (all) => {
        const studio = opened(doc);
        doAndUndo(studio, all);
        expect(studio.isDirty()).toBe(false);
        expect(writeText(studio.get().history.doc)).toBe(writeText(doc));
      }),
      { numRuns: 30 },
    );
  });

  it("is sent to the letter, whatever it holds", async () => {
    await fc.assert(
      fc.asyncProperty(definitions, choices, async (drawn, all) => {
        const text = writeText(drawn, "");
        const doc = readText(text);
        expect(isSame(doc, drawn)).toBe(true);
        const studio = opened(doc);
        lookAround(studio);
        doAndUndo(studio, all);
        expect(studio.isDirty()).toBe(false);
        expect(await sent(studio)).toBe(`{"model":${text},"publish":false}`);
      }),
      { numRuns: 60 },
    );
  });
});

it("text that is no JSON yet, and what was undone after a save, are unsaved", () => {
  const studio = opened({ definitionId: "d", name: "one" });
  expect(studio.isUnsaved()).toBe(false);
  studio.set({ broken: "{" });
  expect([studio.isDirty(), studio.isUnsaved()]).toEqual([true, true]);
  studio.set({ broken: undefined });
  studio.do({ label: "x", patches: [{ do: "set", path: ["name"], value: "two" }] });
  const { doc } = studio.get().history;
  studio.keep(doc, doc, '"2"');
  expect(studio.isUnsaved()).toBe(false);
  studio.undo();
  expect(studio.isUnsaved()).toBe(true);
  const fresh = new Studio({ definitionId: "d" }, TYPES, undefined, undefined);
  expect([fresh.isDirty(), fresh.isUnsaved()]).toEqual([true, false]);
});

it("nothing changes for who may not save it, and everything can be looked at", () => {
  const root = { type: "Elsa.Flowchart", id: "flow", activities: [{ id: "a", type: "Elsa.WriteLine" }] };
  const studio = new Studio({ definitionId: "d", root }, TYPES, undefined, undefined);
  studio.isLocked = true;
  const before = studio.get().history;
  const rename = { label: "x", patches: [{ do: "set" as const, path: ["name"], value: "other" }] };
  studio.do(rename);
  studio.undo();
  studio.redo();
  expect(studio.get().history).toBe(before);
  studio.select(["a"]);
  expect(studio.get().selected).toEqual(["a"]);
  studio.isLocked = false;
  studio.do(rename);
  expect(studio.get().history).not.toBe(before);
});
