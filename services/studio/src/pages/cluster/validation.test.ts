import { describe, expect, it } from "vitest";
import { Problem } from "../../api/problem";
import { announced, countsOf, isPassed, linesOf, next, type Run, stateOfPart } from "./validation";

const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, "0")}Z`;
const started = next(undefined, { is: "begin", at: at(0) });

/** The run after these events, one a second. */
function upTo(...events: [name: string, data: unknown][]): Run {
  const take = (run: Run | undefined, [name, data]: [string, unknown], second: number) =>
    next(run, { is: "event", event: { name, data: JSON.stringify(data) }, at: at(second + 1) });
  const run = events.reduce(take, started);
  if (!run) throw new Error("there is no run");
  return run;
}

const BEGUN: [string, unknown] = [
  "begun",
  { run: "validate-1a2b", nodes: [{ node: "n1", url: "http://a:5001" }], executors: ["n1", "n2"] },
];
const FIRST = "1 distributed runtime";
const part = (name: string): [string, unknown] => ["part", { part: name }];
const checked = (name: string, result: string, of = FIRST) => ({
  part: of,
  check: name,
  result,
  figures: `figures of ${name}`,
  data: null,
});
const check = (name: string, result: string, of = FIRST): [string, unknown] => [
  "check",
  checked(name, result, of),
];
const done = (failed: number, ...checks: unknown[]): [string, unknown] => ["done", { failed, checks }];
const states = (run: Run) => run.parts.map((one) => stateOfPart(run, one));

describe("a validation that runs", () => {
  it("has all parts before it has a check", () => {
    const run = upTo(BEGUN);
    expect(run).toMatchObject({
      begunAt: at(0),
      name: "validate-1a2b",
      nodes: [{ node: "n1", url: "http://a:5001" }],
      executors: ["n1", "n2"],
    });
    expect(states(run)).toEqual(Array(7).fill("pending"));
    expect(run.end).toBeUndefined();
  });

  it("has the part that runs, its step, and the checks that are done", () => {
    const run = upTo(BEGUN, part(FIRST), ["doing", { text: "90 instances" }]);
    expect(run).toMatchObject({ part: FIRST, doing: "90 instances" });
    const later = upTo(
      BEGUN,
      part(FIRST),
      ["doing", { text: "90 instances" }],
      check("one", "ok"),
      part("2 scheduled tasks"),
    );
    expect(later.doing).toBeUndefined();
    expect(later.parts[0]?.checks).toEqual([{ name: "one", result: "ok", figures: "figures of one" }]);
    expect(states(later).slice(0, 3)).toEqual(["ok", "running", "pending"]);
  });

  it("shows a failure at once, and takes no unknown result for a good one", () => {
    const run = upTo(BEGUN, part(FIRST), check("one", "failed"), check("two", "perhaps"));
    expect(states(run)[0]).toBe("failed");
    expect(countsOf(run.parts)).toEqual({ ok: 0, failed: 2, skipped: 0 });
  });

  it("adds parts of a newer server, and passes over what it does not know", () => {
    const run = upTo(BEGUN, part("7 backups"), check("one", "skipped", "7 backups"), ["news", {}]);
    expect(run.parts.at(-1)).toMatchObject({ name: "7 backups", isBegun: true });
    const broken = next(run, { is: "event", event: { name: "check", data: "{" }, at: at(9) });
    expect(broken).toEqual(run);
  });
});

describe("the end of a validation", () => {
  it("is a verdict when all came, with the checks that the end has", () => {
    const checks = [checked("one", "ok"), checked("two", "skipped", "4 failover")];
    const run = upTo(BEGUN, part(FIRST), check("one", "ok"), done(0, ...checks));
    expect(run.end).toEqual({ is: "complete", counts: { ok: 1, failed: 0, skipped: 1 } });
    expect(run.endedAt).toBe(at(4));
    expect(states(run)).toEqual([
      "ok",
      "untouched",
      "untouched",
      "skipped",
      "untouched",
      "untouched",
      "untouched",
    ]);
  });

  it("is passed only where something passed and nothing failed", () => {
    expect(isPassed({ ok: 3, failed: 0, skipped: 1 })).toBe(true);
    expect(isPassed({ ok: 3, failed: 1, skipped: 0 })).toBe(false);
    expect(isPassed({ ok: 0, failed: 0, skipped: 9 })).toBe(false);
  });

  it("fails when the server counts a failure that is not among the checks", () => {
    const run = upTo(BEGUN, done(1, checked("one", "ok")));
    expect(run.end).toMatchObject({ is: "complete", counts: { failed: 1 } });
  });

  it("is no verdict when it cannot be read", () => {
    for (const data of [{}, { failed: 0 }, { checks: [] }, { failed: 0, checks: ["x"] }, 5]) {
      expect(upTo(BEGUN, ["done", data]).end?.is).toBe("broken");
    }
  });

  it("is the server's own end, or a broken connection, with what was seen until then", () => {
    const seen = upTo(BEGUN, part(FIRST), check("one", "ok"), part("2 scheduled tasks"));
    const ended = upTo(BEGUN, part(FIRST), check("one", "ok"), ["end", { reason: "the server stops" }]);
    expect(ended.end).toEqual({ is: "ended", reason: "the server stops" });
    expect(states(ended).slice(0, 2)).toEqual(["unfinished", "untouched"]);
    const problem = new Problem(0, "The connection broke.", "", "");
    const broken = next(seen, { is: "break", problem, at: at(9) });
    expect(broken).toMatchObject({ end: { is: "broken" }, endedAt: at(9), parts: seen.parts });
    // The stream of a run that the server ended is over without its last event.
    expect(next(ended, { is: "break", problem, at: at(9) })).toBe(ended);
  });

  it("stays what it is when it was stopped, until the next one begins", () => {
    const stopped = next(upTo(BEGUN, part(FIRST)), { is: "stop", at: at(5) });
    expect(stopped).toMatchObject({ end: { is: "stopped" }, endedAt: at(5) });
    const event = { name: "done", data: '{"failed":0,"checks":[]}' };
    expect(next(stopped, { is: "event", event, at: at(6) })).toBe(stopped);
    expect(next(stopped, { is: "begin", at: at(7) })).toMatchObject({ begunAt: at(7), nodes: [] });
    const cleanup = stopped?.parts.find(({ name }) => name === "cleanup");
    expect(stopped && cleanup && stateOfPart(stopped, cleanup)).toBe("handed");
  });
});

it("reads out parts, failures and the verdict", () => {
  expect(announced(undefined)).toBe("");
  expect(announced(upTo(BEGUN))).toBe("The validation begins.");
  expect(announced(upTo(BEGUN, part(FIRST)))).toBe("Validation: 1 Distributed runtime.");
  expect(announced(upTo(BEGUN, part(FIRST), check("one", "failed")))).toContain("so far: 1");
  const passed = upTo(BEGUN, done(0, checked("one", "ok")));
  expect(announced(passed)).toBe("The cluster passed. 1 passed, 0 failed, 0 skipped.");
  expect(announced(upTo(BEGUN, done(1, checked("one", "failed"))))).toContain("The cluster failed.");
  expect(announced(upTo(BEGUN, ["end", { reason: "it stops" }]))).toContain("not complete: it stops");
});

it("offers the lines of a terminal for the nodes, or for this server where they have no address", () => {
  expect(linesOf(["http://a:5001", "http://[::1]:5002"])).toEqual({
    staunch: ["staunch validate --nodes http://a:5001,'http://[::1]:5002'", "staunch validate --local 3"],
    curl: "curl -N -X POST http://localhost/elsa/api/cluster/validation",
  });
  expect(linesOf([]).staunch).toContain("staunch validate --nodes http://localhost");
});
