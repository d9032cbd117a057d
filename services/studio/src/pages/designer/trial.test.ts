import { beforeEach, describe, expect, it, vi } from "vitest";
import { type Members, readText } from "../../model/json";
import { TYPES } from "../../model/testing";
import { Studio } from "./store";
import {
  changeTrial,
  type Execution,
  emptyPin,
  endOf,
  executionsOf,
  hideTested,
  isWhole,
  marksOf,
  type Ran,
  readObject,
  recall,
  removePins,
  requestOf,
  resultOf,
  setPin,
  tryEnd,
  tryOut,
  typePin,
} from "./trial";

const DOC = `{"definitionId": "order", "n": 1.50, "root": {"type": "Elsa.Flowchart", "id": "flow", "activities": [
  {"type": "Elsa.FlowDecision", "id": "choose"}, {"type": "Elsa.WriteLine", "id": "say"}]}}`;

const kept = new Map<string, string>();
let asked: { path: string; body: string }[] = [];
let answer: unknown;

beforeEach(() => {
  kept.clear();
  asked = [];
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, text: string) => void kept.set(name, text),
  });
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    asked.push({ path: String(path), body: String(init.body) });
    return new Response(JSON.stringify(answer), { status: 200 });
  });
});

function opened(): Studio {
  const doc = readText(DOC);
  return new Studio(doc, TYPES, doc, '"1"');
}

/** Of an execution: its values are whatever the workflow makes. */
type Told = Partial<Omit<Execution["of"], "outputs"> & { outputs: Record<string, unknown> }>;

function did(nodeId: string, more: Told = {}): Execution["of"] {
  const told: Told = {
    id: `x:${nodeId}`,
    activityId: nodeId.split(":").at(-1) ?? "",
    activityNodeId: nodeId,
    activityType: "Elsa.WriteLine",
    activityName: null,
    startedAt: "2026-01-01T00:00:00Z",
    completedAt: null,
    status: "Completed",
    inputs: {},
    outputs: {},
    outcomes: ["Done"],
    fault: null,
    isPinned: false,
    isCut: false,
    ...more,
  };
  return told as Execution["of"];
}

const ranOf = (activities: Execution["of"][]): Ran => ({
  status: "Finished",
  stopped: null,
  waits: [],
  outputs: {},
  incidents: [],
  activities,
  lines: [],
  notSent: [],
  took: "00:00:00",
});

describe("a test run", () => {
  it("sends the workflow to the letter, with what it is given", async () => {
    const studio = opened();
    changeTrial(studio, { input: '{"n": 1}', answers: '{"calls": {"GET *": {}}, "model": 5}' });
    setPin(studio, "say", { outcomes: ["Done"], outputs: {} });
    setPin(studio, "gone", { outcomes: [], outputs: {} });
    answer = ranOf([did("Workflow1:flow"), did("Workflow1:flow:choose"), did("Workflow1:flow:say")]);
    await tryOut(studio, "say");
    expect(asked[0]?.path).toMatch(/\/tests\/workflows$/);
    const body = asked[0]?.body ?? "";
    expect(studio.get().tested?.request).toBe(body.replace(',"until":"say"', ""));
    expect(body).toContain('"n":1.50');
    const { model, ...more } = JSON.parse(body);
    expect(model.definitionId).toBe("order");
    expect(more).toEqual({
      calls: { "GET *": {} },
      input: { n: 1 },
      pins: { say: { outcomes: ["Done"], outputs: {} } },
      until: "say",
    });
    const { tested, marks, history } = studio.get();
    expect(tested?.doc).toBe(history.doc);
    expect(marks?.get("say")).toEqual({ status: "Completed", runs: 1, order: 2 });
    expect(studio.isDirty()).toBe(false);
    hideTested(studio);
    expect(studio.get().marks).toBeUndefined();
  });

  it("lights up activities that have no ids, as those of a text that is not saved yet", async () => {
    const root: Members = {
      type: "Elsa.Sequence",
      activities: [
        { type: "Elsa.WriteLine", id: "WriteLine1" },
        { type: "Elsa.WriteLine" },
        { type: "Elsa.WriteLine" },
      ],
    };
    const studio = new Studio({ definitionId: "d", root }, TYPES, undefined, undefined);
    const ids = ["Sequence1", "WriteLine1", "WriteLine2", "WriteLine3"];
    const [first, ...others] = ids;
    answer = ranOf([did(`Workflow1:${first}`), ...others.map((id) => did(`Workflow1:${first}:${id}`))]);
    await tryOut(studio, "/root/activities/2");
    const { model, until } = JSON.parse(asked.at(-1)?.body ?? "");
    expect([model.root, ...model.root.activities].map(({ id }) => id)).toEqual(ids);
    expect(until).toBe("WriteLine3");
    const keys = ["WriteLine1", "/root/activities/1", "/root/activities/2"];
    expect(studio.get().tested?.executions.map(({ key }) => key)).toEqual(keys);
    expect([...(studio.get().marks?.keys() ?? [])]).toEqual(keys);
    expect(studio.get().history.past).toEqual([]);
  });

  it("does not begin while what was typed as a pinned result is none", async () => {
    const studio = opened();
    setPin(studio, "say", { outcomes: [], outputs: {} });
    typePin(studio, "say", "{");
    await tryOut(studio);
    expect(asked).toEqual([]);
    expect(String(studio.get().refused)).toContain("WriteLine");
    setPin(studio, "say", { outcomes: ["Done"], outputs: {} });
    answer = ranOf([did("Workflow1:flow")]);
    await tryOut(studio);
    expect(asked).toHaveLength(1);
    typePin(studio, "say", "{");
    typePin(studio, "gone", "{");
    removePins(studio);
    expect(studio.get().wrongPins.size).toBe(0);
  });

  it("that is refused takes the place of the result before it", async () => {
    const studio = opened();
    answer = ranOf([did("Workflow1:flow"), did("Workflow1:flow:say")]);
    await tryOut(studio);
    expect(studio.get().tested).toBeDefined();
    vi.stubGlobal("fetch", async () => {
      const problem = { type: "about:blank", title: "Bad", status: 400, detail: "the root has no activity" };
      return new Response(JSON.stringify(problem), { status: 400 });
    });
    await tryOut(studio);
    expect(studio.get()).toMatchObject({ tested: undefined, marks: undefined });
    expect(studio.get().refused).toMatchObject({ status: 400 });

    changeTrial(studio, { input: "[1]" });
    await tryOut(studio);
    expect(studio.get().refused).toMatchObject({ name: "NotObject" });
    hideTested(studio);
    expect(studio.get().refused).toBeUndefined();
  });

  it("that was stopped is not shown as one that runs", () => {
    const stopped = { reason: "Unanswered" as const, message: "no answer fits", activityId: "say" };
    expect(endOf({ ...ranOf([]), status: "Executing", stopped } as Ran).status).toBe("Cancelled");
    expect(endOf(ranOf([]))).toEqual({ status: "Finished" });
  });

  it("of one activity that has not ended waits: nothing runs", () => {
    expect(tryEnd({ status: "Running" })).toEqual({ status: "Suspended", word: "Waits" });
    expect(tryEnd({ status: "Completed" })).toEqual({ status: "Completed" });
  });

  it("says which field is no JSON object", () => {
    const { index } = opened().get();
    const trial = { input: "[1]", answers: "", pins: new Map() };
    expect(() => requestOf(index, {}, trial, undefined)).toThrow(/^Input: /);
    expect(readObject("")).toEqual({ value: {} });
    expect(readObject("{").error).toBeDefined();
    expect(readObject("[]").error).toBeDefined();
  });

  it("shows what the page has, in order, and not the workflow as a whole", () => {
    const { index } = opened().get();
    const ran = ranOf([
      did("Workflow1:flow"),
      did("Workflow1:flow:choose"),
      did("Workflow1:flow:ship:say"),
      did("Workflow1:flow:say"),
      did("Workflow1:flow:choose", { status: "Faulted" }),
    ]);
    const executions = executionsOf(index, ran);
    expect(executions.map(({ number, key }) => [number, key])).toEqual([
      [1, "choose"],
      [2, "say"],
      [3, "choose"],
    ]);
    expect(marksOf(executions).get("choose")).toEqual({ status: "Faulted", runs: 2, order: 1 });
    expect(executionsOf(index, ranOf([did("Workflow1:flow")]))).toHaveLength(1);
  });
});

describe("a result", () => {
  it("is pinned as it is, if all of it is here", () => {
    expect(resultOf(did("w:say", { outcomes: ["A"], outputs: { Result: 1 } }))).toEqual({
      outcomes: ["A"],
      outputs: { Result: 1 },
    });
    expect(isWhole(did("w:say", { outputs: { Result: { a: [1, "x…"] } } }))).toBe(true);
    expect(isWhole(did("w:say", { isCut: true }))).toBe(false);
    expect(isWhole(did("w:say", { outputs: { Result: { a: [{ $cut: "[1…", bytes: 9 }] } } }))).toBe(false);
    expect(isWhole(did("w:say", { outputs: { Result: `${"x".repeat(65_000)}…` } }))).toBe(false);
  });

  it("is the first outcome where nothing ran", () => {
    const studio = opened();
    expect(emptyPin(studio, "choose")).toEqual({ outcomes: ["True"], outputs: {} });
    expect(emptyPin(studio, "gone")).toEqual({ outcomes: ["Done"], outputs: {} });
  });

  it("is kept in the browser, and never in the definition", () => {
    const studio = opened();
    setPin(studio, "say", { outcomes: ["Done"], outputs: {} });
    expect(studio.isDirty()).toBe(false);
    const again = opened();
    recall(again);
    expect(again.get().trial.pins.get("say")).toEqual({ outcomes: ["Done"], outputs: {} });
    setPin(again, "say", undefined);
    const last = opened();
    recall(last);
    expect(last.get().trial.pins.size).toBe(0);
  });
});
