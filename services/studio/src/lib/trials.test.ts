import { describe, expect, it } from "vitest";
import { NO_TRIAL, pinOf, readTrial, type Trial, writeTrial } from "./trials";

function storage(first?: string) {
  let held = first ?? null;
  const setItem = (_: string, text: string) => {
    held = text;
  };
  return { getItem: () => held, setItem, text: () => held };
}

const trial = (input: string): Trial => ({
  input,
  answers: "",
  pins: new Map([["__proto__", { outcomes: ["Done"], outputs: { Result: [1, null] } }]]),
});

describe("what test runs are given", () => {
  it("is kept for each workflow by itself", () => {
    const store = storage();
    expect(writeTrial(store, "a", trial('{"n": 1}'))).toBe(true);
    expect(writeTrial(store, "b", trial("{}"))).toBe(true);
    expect(readTrial(store, "a")).toEqual(trial('{"n": 1}'));
    expect(readTrial(store, "b")).toEqual(trial("{}"));
    expect(readTrial(store, "c")).toBe(NO_TRIAL);
    expect(writeTrial(store, "a", NO_TRIAL)).toBe(true);
    expect(readTrial(store, "a")).toBe(NO_TRIAL);
    expect(store.text()).not.toContain('"a"');
  });

  it("goes when there is no room, the oldest first", () => {
    const store = storage();
    for (let at = 0; at < 60; at++) writeTrial(store, `d${at}`, trial("{}"));
    expect(readTrial(store, "d9")).toBe(NO_TRIAL);
    expect(readTrial(store, "d10")).toEqual(trial("{}"));
    const long = trial("x".repeat(600_000));
    expect(writeTrial(store, "long", long)).toBe(true);
    expect(writeTrial(store, "longer", long)).toBe(true);
    expect(readTrial(store, "long")).toBe(NO_TRIAL);
    expect(readTrial(store, "longer")).toEqual(long);
    expect(writeTrial(store, "longest", trial("x".repeat(1_100_000)))).toBe(false);
    const full = { ...storage(), setItem: () => expect.fail("full") };
    expect(writeTrial(full, "a", trial("{}"))).toBe(false);
  });

  it.each([
    "not JSON",
    "{}",
    "[1, null, {}]",
    '[{"definition": "a", "input": 1, "answers": ""}]',
    '[{"definition": "b", "input": "", "answers": ""}]',
  ])("is none where it cannot be read: %s", (text) => {
    expect(readTrial(storage(text), "a")).toEqual(NO_TRIAL);
  });

  it("has no pins that are none", () => {
    const text = '[{"definition": "a", "input": "", "answers": "", "pins": [["x", 1], 2, ["y", {}]]}]';
    expect(readTrial(storage(text), "a").pins).toEqual(new Map([["y", { outcomes: [], outputs: {} }]]));
  });
});

describe("a result", () => {
  it("has outcomes and outputs, and nothing else", () => {
    expect(pinOf({})).toEqual({ outcomes: [], outputs: {} });
    expect(pinOf({ outcomes: ["True"], outputs: { A: 1 } })).toEqual({
      outcomes: ["True"],
      outputs: { A: 1 },
    });
    for (const wrong of [
      null,
      1,
      [],
      { outcomes: "Done" },
      { outcomes: [1] },
      { outputs: [] },
      { result: 1 },
    ])
      expect(pinOf(wrong)).toBeUndefined();
  });
});
