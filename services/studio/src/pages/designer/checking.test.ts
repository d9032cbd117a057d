import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { networkChanged } from "../../api/network";
import { problemOf, unreachable } from "../../api/problem";
import type { Api } from "../../api/types";
import { readText } from "../../model/json";
import { Steps } from "../../model/steps";
import { TYPES } from "../../model/testing";
import { AGAIN_MS, followChanges, LENGTH_MAX, problemsAt, REST_MS, unsaid, withNames } from "./checking";
import { Studio } from "./store";
import { w } from "./words";

const text = `{"name": "Order", "variables": [{"name": "a"}, {"name": "a"}], "root": {"type": "Elsa.Sequence", "id": "seq",
  "activities": [{"type": "Elsa.WriteLine", "id": "line", "text": "x"}, {"type": "Elsa.WriteLine"}]}}`;
const studioOf = () => new Studio(readText(text), TYPES, undefined, undefined);
const problem = (more: Partial<Api["CheckedProblem"]>): Api["CheckedProblem"] => ({
  severity: "error",
  message: "it is wrong",
  ...more,
});
const checked = (...problems: Api["CheckedProblem"][]): Api["Checked"] => ({
  isValid: problems.length === 0,
  isCutShort: false,
  problems,
});
const rename = (studio: Studio, name: string) =>
  studio.do(new Steps(studio.get().history.doc).set(["name"], name).edit("rename"));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("what the server says", () => {
  it("is at its activity, with or without an id, and at its member", () => {
    const { index } = studioOf().get();
    const at = (more: Partial<Api["CheckedProblem"]>) => {
      const [found] = problemsAt(index, checked(problem(more)));
      return [found?.key, found?.member];
    };
    expect(at({ pointer: "/model/root/activities/0/text", activityId: "line" })).toEqual(["line", "text"]);
    expect(at({ pointer: "/model/root/activities/0", property: "Text" })).toEqual(["line", "text"]);
    expect(at({ pointer: "/model/root/activities/1" })).toEqual(["/root/activities/1", undefined]);
    expect(at({ pointer: "/model/root/connections/3" })).toEqual(["seq", "connections"]);
    expect(at({ activityId: "line" })).toEqual(["line", undefined]);
    expect(at({ activityId: "gone", pointer: null })).toEqual([undefined, undefined]);
    expect(at({ pointer: "/model/variables/1/name" })).toEqual([undefined, "variables"]);
  });

  it("says so when it has more to say, and does not say twice what the page says", () => {
    const { index } = studioOf().get();
    const found = problemsAt(index, {
      ...checked(problem({ pointer: "/model/root/activities/0/text" }), problem({ severity: "warning" })),
      isCutShort: true,
    });
    expect(found.map(({ isWarning }) => isWarning)).toEqual([false, true, true]);
    expect(found[2]?.fault).toEqual({ is: "more" });
    const own = { fault: { is: "empty" as const }, key: "line", member: "text", isWarning: false };
    expect(unsaid(found, [own])).toEqual(found.slice(1));
    expect(unsaid(found, [{ ...own, isWarning: true }])).toEqual(found);
    const double = problemsAt(index, checked(problem({ pointer: "/model/variables/1/name" })));
    const twice = { is: "name" as const, kind: "variable" as const, name: "a" };
    expect(unsaid(double, [{ fault: twice, isWarning: false }])).toEqual([]);
    expect(unsaid(double, [own])).toEqual(double);
    const lone = problemsAt(
      index,
      checked(
        problem({ pointer: "/model/root/activities/0", severity: "warning" }),
        problem({ pointer: "/model/root/activities/0/text", severity: "warning" }),
      ),
    );
    const unreached = { fault: { is: "unreached" as const }, key: lone[0]?.key, isWarning: true };
    expect(unsaid(lone, [unreached])).toEqual(lone.slice(1));
  });
});

it("names activities instead of their ids", () => {
  const own = `{"root": {"type": "Elsa.Sequence", "id": "5f1d9c2a7b3e4d60", "activities": [
    {"type": "Elsa.WriteLine", "id": "line", "metadata": {"displayText": "Say it"}},
    {"type": "Elsa.WriteLine", "id": "that", "name": "WriteLine2"}]}}`;
  const { index } = new Studio(readText(own), TYPES, undefined, undefined).get();
  expect(withNames(index, "activity line has no outcome Done, as activity gone has")).toBe(
    'activity "Say it" has no outcome Done, as activity gone has',
  );
  expect(withNames(index, "this connection (5f1d9c2a7b3e4d60 to line) leads to that")).toBe(
    'this connection ("Sequence" to line) leads to that',
  );
  const twins = own.replace(', "name": "WriteLine2"', "").replace("Say it", "");
  const two = new Studio(readText(twins), TYPES, undefined, undefined).get().index;
  expect(withNames(two, "activity line is slow")).toMatch(/^activity "[^"]+ \(line\)" is slow$/);
});

it("calls a box as the page does", () => {
  const message = "nothing starts the workflow here: set canStartWorkflow, or leave it so";
  expect(w.fault({ is: "server", message })).toContain('set "Starts the workflow" (canStartWorkflow), or');
});

describe("a change", () => {
  it("is asked about once it rests, and a later one ends the question", async () => {
    const studio = studioOf();
    const asked: { text: string; signal: AbortSignal; answer: (checked: Api["Checked"]) => void }[] = [];
    const stop = followChanges(
      studio,
      (sent, signal) => new Promise((answer) => void asked.push({ text: sent, signal, answer })),
    );
    await vi.advanceTimersByTimeAsync(REST_MS - 1);
    rename(studio, "First");
    await vi.advanceTimersByTimeAsync(REST_MS);
    expect(asked.length).toBe(1);
    expect(asked[0]?.text).toContain('"name":"First"');
    rename(studio, "Second");
    expect(asked[0]?.signal.aborted).toBe(true);
    await vi.advanceTimersByTimeAsync(REST_MS);
    expect(asked.length).toBe(2);
    asked[1]?.answer(checked(problem({ pointer: "/model/root/activities/1" })));
    asked[0]?.answer(checked());
    await vi.advanceTimersByTimeAsync(0);
    expect(studio.get().found.map(({ key }) => key)).toEqual(["/root/activities/1"]);
    expect(studio.get().checked).toBe("yes");
    rename(studio, "Third");
    expect(studio.get().found.length).toBe(1);
    expect(studio.get().checked).toBe("no");
    stop();
    await vi.advanceTimersByTimeAsync(REST_MS * 2);
    expect(asked.length).toBe(2);
  });

  it("leaves no old problems when the server does not answer", async () => {
    const studio = studioOf();
    studio.set({ found: [{ fault: { is: "more" }, isWarning: true }] });
    const stop = followChanges(studio, () => Promise.reject(new Error("gone")));
    await vi.advanceTimersByTimeAsync(REST_MS);
    expect(studio.get().found).toEqual([]);
    expect(studio.get().checked).toBe("failed");
    stop();
  });

  it("is asked about again when nobody answered: after a while, and at once when the network is back", async () => {
    const studio = studioOf();
    let asked = 0;
    let isGone = true;
    const stop = followChanges(studio, () => {
      asked += 1;
      return isGone ? Promise.reject(unreachable("POST /check")) : Promise.resolve(checked(problem({})));
    });
    await vi.advanceTimersByTimeAsync(REST_MS);
    expect([asked, studio.get().checked]).toEqual([1, "failed"]);
    await vi.advanceTimersByTimeAsync(AGAIN_MS);
    expect([asked, studio.get().checked]).toEqual([2, "failed"]);
    isGone = false;
    networkChanged();
    await vi.advanceTimersByTimeAsync(0);
    expect([asked, studio.get().checked, studio.get().found.length]).toEqual([3, "yes", 1]);
    networkChanged();
    await vi.advanceTimersByTimeAsync(AGAIN_MS * 2);
    expect(asked).toBe(3);
    isGone = true;
    rename(studio, "Other");
    await vi.advanceTimersByTimeAsync(REST_MS);
    expect([asked, studio.get().checked]).toEqual([4, "failed"]);
    stop();
    networkChanged();
    await vi.advanceTimersByTimeAsync(AGAIN_MS * 2);
    expect(asked).toBe(4);
  });

  it("is not asked about again where the server would say the same, nor where it is too long", async () => {
    const studio = studioOf();
    let asked = 0;
    const stop = followChanges(studio, () => {
      asked += 1;
      return Promise.reject(problemOf(403, "POST /check", "{}"));
    });
    await vi.advanceTimersByTimeAsync(REST_MS + AGAIN_MS * 2);
    expect([asked, studio.get().checked]).toEqual([1, "refused"]);
    rename(studio, "x".repeat(LENGTH_MAX));
    await vi.advanceTimersByTimeAsync(REST_MS + AGAIN_MS * 2);
    expect([asked, studio.get().checked]).toEqual([1, "long"]);
    stop();
  });
});
