import { beforeEach, describe, expect, it, vi } from "vitest";
import { type Json, listOf, type Members, membersOf } from "../../model/json";
import { HEIGHT, WIDTH } from "../../model/layout";
import { TYPES } from "../../model/testing";
import { pageInside } from "../../model/view";
import { addState, addType, arrangeAll, copySelected, duplicateSelected, pasteText } from "./deeds";
import { Studio } from "./store";

const place = (x: number, y: number): Members => ({ designer: { position: { x, y } } });
const line = (id: string, x: number, y = 0): Members => ({
  id,
  name: id,
  type: "Elsa.WriteLine",
  metadata: place(x, y),
});
const to = (from: string, target: string): Json => ({
  source: { activity: from, port: "Done" },
  target: { activity: target, port: "In" },
});
const flow = (activities: Json[], connections: Json[] = []): Studio =>
  new Studio(
    { definitionId: "d", root: { type: "Elsa.Flowchart", id: "flow", activities, connections } },
    TYPES,
    undefined,
    undefined,
  );
const machine = (): Studio =>
  new Studio(
    {
      definitionId: "d",
      root: {
        type: "Elsa.StateMachine",
        id: "m",
        states: [
          { name: "Open", metadata: place(0, 0), entry: { id: "e", type: "Elsa.WriteLine", name: "Hello" } },
          { name: "Closed", metadata: place(272, 0) },
        ],
        transitions: [
          { name: "Open to Closed", from: "Open", to: "Closed", trigger: { id: "t", type: "Elsa.Event" } },
        ],
      },
    },
    TYPES,
    undefined,
    undefined,
  );

const root = (studio: Studio): Members => membersOf(membersOf(studio.get().history.doc)?.root) ?? {};
const ends = (studio: Studio) =>
  listOf(root(studio).transitions).map((one) => [membersOf(one)?.from, membersOf(one)?.to]);

function writeLine() {
  const type = TYPES.get("Elsa.WriteLine");
  if (!type) throw new Error("no type");
  return type;
}

function cron() {
  const type = TYPES.get("Elsa.Cron");
  if (!type) throw new Error("no type");
  return type;
}

/** Whether the activity that was added last starts the workflow. */
const startsWorkflow = (studio: Studio): boolean => {
  const { index, selected } = studio.get();
  return membersOf(index.get(selected[0] ?? "")?.activity.customProperties)?.canStartWorkflow === true;
};

const sequence = (activities: Json[]): Studio =>
  new Studio(
    { definitionId: "d", root: { type: "Elsa.Sequence", id: "s", activities } },
    TYPES,
    undefined,
    undefined,
  );

beforeEach(() => void vi.useFakeTimers());

describe("a trigger", () => {
  it("is the start of an empty page", () => {
    for (const studio of [flow([]), sequence([])]) {
      addType(studio, cron(), { at: { x: 400, y: 40 } });
      expect(startsWorkflow(studio)).toBe(true);
    }
  });

  it("waits in the middle where it is added behind an activity", () => {
    const after = flow([line("a", 0)]);
    after.select(["a"]);
    addType(after, cron());
    expect(startsWorkflow(after)).toBe(false);
    const dragged = flow([line("a", 0)]);
    addType(dragged, cron(), { after: { key: "a", port: "Done" }, at: { x: -400, y: 0 } });
    expect(startsWorkflow(dragged)).toBe(false);
    const cut = flow([line("a", 0), line("b", 272)], [to("a", "b")]);
    const [wire] = cut.get().view.lines;
    if (!wire) throw new Error("no line");
    addType(cut, cron(), { line: { line: wire, port: "Done" }, at: { x: 136, y: 0 } });
    expect(startsWorkflow(cut)).toBe(false);
    const below = flow([line("a", 0)]);
    addType(below, cron());
    expect(startsWorkflow(below)).toBe(false);
    const list = sequence([line("a", 0)]);
    addType(list, cron());
    expect(startsWorkflow(list)).toBe(false);
  });

  it.each([
    [272, 0, false],
    [240, -200, false],
    [-240, 200, false],
    [0, 120, false],
    [8, 8, false],
    [-240, 0, true],
    [0, -120, true],
    [-240, -120, true],
  ])("that is dropped at %i, %i beside an activity starts: %s", (x, y, starts) => {
    const studio = flow([line("a", 0)]);
    addType(studio, cron(), { at: { x, y } });
    expect(startsWorkflow(studio)).toBe(starts);
  });

  it("is the start in front of what no line leads to, while there is no other", () => {
    const before = { before: { key: "b", port: "Done" }, at: { x: 72, y: 0 } };
    const studio = flow([line("b", 272)]);
    addType(studio, cron(), before);
    expect(startsWorkflow(studio)).toBe(true);
    addType(studio, cron(), { at: { x: -800, y: -800 } });
    expect(startsWorkflow(studio)).toBe(false);
    const led = flow([line("a", 0), line("b", 272)], [to("a", "b")]);
    addType(led, cron(), before);
    expect(startsWorkflow(led)).toBe(false);
    const list = sequence([line("a", 0), line("b", 0)]);
    addType(list, cron(), { at: { x: 0, y: -400 } });
    expect(startsWorkflow(list)).toBe(true);
  });
});

describe("on a flowchart", () => {
  it("an activity on a line makes room for itself, in one step", () => {
    const studio = flow([line("a", 0), line("b", 272), line("c", 544)], [to("a", "b"), to("b", "c")]);
    const before = studio.get().history.doc;
    const [cut] = studio.get().view.lines;
    if (!cut) throw new Error("no line");
    addType(studio, writeLine(), { line: { line: cut, port: "Done" }, at: { x: 136, y: 0 } });
    const all = [...studio.get().places.values()];
    for (const [at, one] of all.entries())
      for (const other of all.slice(at + 1))
        expect(Math.abs(one.x - other.x) >= WIDTH || Math.abs(one.y - other.y) >= HEIGHT).toBe(true);
    expect(studio.get().places.get("c")).toEqual({ x: 816, y: 0 });
    studio.undo();
    expect(studio.get().history.doc).toEqual(before);
    expect(studio.get().history.past).toEqual([]);
  });

  it("what comes from another workflow is pasted where it covers nothing, near what is there", () => {
    const there = flow([line("x", 9000, 9000), line("y", 9300, 9000)], [to("x", "y")]);
    there.select(["x", "y"]);
    const here = flow([line("a", 40, 40)]);
    expect(pasteText(here, copySelected(there) ?? "")).toBe(true);
    const [first, second] = here.get().selected.map((key) => here.get().places.get(key));
    expect(first).toEqual({ x: 40, y: 40 + HEIGHT + 48 });
    expect(second).toEqual({ x: 340, y: 40 + HEIGHT + 48 });
  });

  it("arranging shows the page", () => {
    vi.stubGlobal("document", { getElementById: () => ({ getBoundingClientRect: () => new Box() }) });
    const setViewport = vi.fn(async () => true);
    arrangeAll(flow([line("a", 5000), line("b", 9000)], [to("a", "b")]), { setViewport });
    expect(setViewport).toHaveBeenCalledOnce();
    vi.unstubAllGlobals();
  });

  it("an opened card moves what is below it, and the definition stays as it is", () => {
    const inner = { type: "Elsa.Sequence", id: "s", activities: [line("i", 0)], metadata: place(0, 0) };
    const studio = flow([inner, line("under", 0, 100)]);
    const before = studio.get().history.doc;
    studio.toggleInPlace("s");
    expect(studio.get().shown.get("under")?.y).toBeGreaterThan(140);
    expect(studio.get().places.get("under")).toEqual({ x: 0, y: 100 });
    expect(studio.get().history.doc).toBe(before);
    studio.toggleInPlace("s");
    expect(studio.get().shown).toBe(studio.get().places);
  });
});

class Box {
  readonly width = 800;
  readonly height = 600;
}

describe("in a list", () => {
  it("an activity comes where it was dropped", () => {
    const studio = flow([
      { type: "Elsa.Sequence", id: "s", activities: [line("a", 0), line("b", 0)], metadata: place(0, 0) },
    ]);
    studio.open(pageInside(studio.get().index, "s"));
    const second = studio.get().places.get("b") ?? { x: 0, y: 0 };
    addType(studio, writeLine(), { at: { x: 0, y: second.y - 20 } });
    const names = () => studio.get().view.items.map((item) => item.entry?.activity.name);
    expect(names()).toEqual(["a", "WriteLine1", "b"]);
    addType(studio, writeLine(), { at: { x: 0, y: 9000 } });
    expect(names()).toEqual(["a", "WriteLine1", "b", "WriteLine2"]);
  });
});

describe("in a state machine", () => {
  it("a state is joined to what its line came from, or is put between two", () => {
    const studio = machine();
    addState(studio, undefined, { after: { key: "state:Closed", port: "" }, at: { x: 600, y: 0 } });
    expect(ends(studio)).toEqual([
      ["Open", "Closed"],
      ["Closed", "State1"],
    ]);
    const [cut] = studio.get().view.lines;
    if (!cut) throw new Error("no line");
    addState(studio, undefined, { line: { line: cut, port: "Done" }, at: { x: 100, y: 0 } });
    expect(ends(studio)).toEqual([
      ["Open", "State2"],
      ["Closed", "State1"],
      ["State2", "Closed"],
    ]);
    expect(membersOf(listOf(root(studio).transitions)[0])).toMatchObject({
      name: "Open to State2",
      trigger: { id: "t" },
    });
    expect(studio.get().places.get("state:Closed")?.x).toBeGreaterThan(500);
  });

  it("the first state is where the machine starts", () => {
    const studio = new Studio(
      { definitionId: "d", root: { type: "Elsa.StateMachine", id: "m", states: [], transitions: [] } },
      TYPES,
      undefined,
      undefined,
    );
    addState(studio, undefined, {});
    addState(studio, undefined, {});
    expect(root(studio).initialState).toBe("State1");
  });

  it("states are duplicated and copied with the transitions between them", () => {
    const studio = machine();
    studio.select(["state:Open", "state:Closed"]);
    duplicateSelected(studio);
    expect(studio.get().selected).toEqual(["state:Open1", "state:Closed1"]);
    expect(ends(studio)).toEqual([
      ["Open", "Closed"],
      ["Open1", "Closed1"],
    ]);
    const [, copy] = listOf(root(studio).transitions).map(membersOf);
    expect(copy?.name).toBe("Open1 to Closed1");
    expect(membersOf(copy?.trigger)?.id).not.toBe("t");
    const text = copySelected(studio) ?? "";
    const other = machine();
    expect(pasteText(other, text)).toBe(true);
    expect(listOf(root(other).states).map((one) => membersOf(one)?.name)).toEqual([
      "Open",
      "Closed",
      "Open1",
      "Closed1",
    ]);
  });

  it("what does not fit is not pasted", () => {
    const states = machine();
    states.select(["state:Open"]);
    const text = copySelected(states) ?? "";
    const activities = flow([line("a", 0)]);
    const before = activities.get().history.doc;
    expect(pasteText(activities, text)).toBe(true);
    expect(activities.get().history.doc).toBe(before);
    activities.select(["a"]);
    const was = states.get().history.doc;
    expect(pasteText(states, copySelected(activities) ?? "")).toBe(true);
    expect(states.get().history.doc).toBe(was);
    expect(pasteText(states, "no JSON")).toBe(false);
  });
});
