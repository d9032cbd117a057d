import { beforeEach, describe, expect, it, vi } from "vitest";
import { type Json, type Members, membersOf, namesOf, readText, writeText } from "../../model/json";
import { TYPES } from "../../model/testing";
import {
  added,
  type CaseRun,
  checkCases,
  contentFor,
  differenceOf,
  fileName,
  fileOf,
  freshName,
  isOld,
  keepFile,
  MEMBER,
  makeCase,
  namesIn,
  readImport,
  removeCase,
  replaced,
  runCases,
  takeText,
} from "./cases";
import { Studio } from "./store";
import { w } from "./words";

const ROOT = `"root": {"type": "Elsa.Flowchart", "id": "flow", "activities": [{"type": "Elsa.WriteLine"}]}`;
const TESTS = `{"pins": {"say": {}}, "tests": {"b": {"input": {"n": 1.50}, "expect": {}}, "a": {"expect": {}}}}`;
const WITH = `{"definitionId": "order", ${ROOT}, "customProperties": {"Other": 1, "${MEMBER}": ${TESTS}}}`;
const WITHOUT = `{"definitionId": "order", ${ROOT}}`;

let asked: { path: string; body: string }[] = [];
let answer = "{}";
let status = 200;

beforeEach(() => {
  asked = [];
  answer = "{}";
  status = 200;
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    asked.push({ path: String(path), body: String(init.body) });
    return new Response(answer, { status });
  });
});

function opened(text: string): Studio {
  const doc = readText(text);
  return new Studio(doc, TYPES, doc, '"1"');
}

const docOf = (studio: Studio): Json => studio.get().history.doc;
const members = (text: string): Members => membersOf(readText(text)) ?? {};

describe("the tests that a definition has with it", () => {
  it("are read in their order, and are none where there are none", () => {
    expect(namesIn(fileOf(readText(WITH)))).toEqual(["b", "a"]);
    for (const text of [WITHOUT, '{"customProperties": null}', `{"customProperties": {"${MEMBER}": 5}}`])
      expect(fileOf(readText(text))).toBeUndefined();
  });

  it("are one edit, which leaves everything else as it was, and undo takes it back", () => {
    const studio = opened(WITHOUT);
    keepFile(studio, "add", added(fileOf(docOf(studio)), "it", members('{"expect": {}}')));
    expect(writeText(docOf(studio), "")).toBe(
      writeText(
        readText(
          `{"definitionId": "order", ${ROOT}, "customProperties": {"${MEMBER}": {"tests": {"it": {"expect": {}}}}}}`,
        ),
        "",
      ),
    );
    studio.undo();
    expect(docOf(studio)).toEqual(readText(WITHOUT));
    keepFile(studio, "remove", undefined);
    expect(studio.isDirty()).toBe(false);
  });

  it("keep what all tests share and the digits of numbers; the last one takes the member with it", () => {
    const studio = opened(WITH);
    removeCase(studio, "a");
    expect(writeText(fileOf(docOf(studio)) ?? null, "")).toBe(
      '{"pins":{"say":{}},"tests":{"b":{"input":{"n":1.50},"expect":{}}}}',
    );
    removeCase(studio, "b");
    expect(membersOf(docOf(studio))?.customProperties).toEqual({ Other: 1 });
  });

  it("stay in their places when one gets another name", () => {
    const next = replaced(fileOf(readText(WITH)), "b", members('{"c": {"expect": {}}}'));
    expect(namesIn(next)).toEqual(["c", "a"]);
    expect(namesOf(next ?? {})).toEqual(["pins", "tests"]);
  });

  it("get a name that none has", () => {
    const first = freshName(undefined);
    expect(freshName(added(undefined, first, null))).toBe(`${first} 2`);
  });

  it("are written for one alone, or with what they share", () => {
    const doc = readText(WITH);
    expect(contentFor(doc)).toBe(fileOf(doc));
    expect(contentFor(doc, "a")).toEqual({ tests: { a: { expect: {} } } });
  });
});

describe("a run of tests", () => {
  const ran = (name: string, differences: string[]) => ({
    name,
    line: 1,
    passed: differences.length === 0,
    differences,
  });

  it("sends the workflow as it is drawn and the tests that are asked for, with what they share", async () => {
    const studio = opened(WITH);
    answer = JSON.stringify({ passed: false, cases: [ran("b", ["line 3: lines differs"])] });
    await runCases(studio, "b");
    expect(asked.map((one) => one.path)).toEqual([expect.stringMatching(/\/tests\/cases$/)]);
    const sent = JSON.parse(asked[0]?.body ?? "");
    expect(sent.model.root.activities[0].id).toBe("WriteLine1");
    expect(sent.cases).toContain('"n": 1.50');
    expect(JSON.parse(sent.cases)).toEqual({ pins: { say: {} }, tests: { b: expect.anything() } });
    expect(studio.get().cases.results.get("b")?.of.passed).toBe(false);

    answer = JSON.stringify({ passed: true, cases: [ran("b", []), ran("a", [])] });
    await runCases(studio);
    expect(Object.keys(JSON.parse(JSON.parse(asked[1]?.body ?? "").cases).tests)).toEqual(["b", "a"]);
    expect([...studio.get().cases.results.keys()]).toEqual(["b", "a"]);
  });

  it("that is refused says why, and nothing is sent where there are no tests", async () => {
    const studio = opened(WITH);
    [answer, status] = [JSON.stringify({ title: "Bad request", status: 400, detail: "no" }), 400];
    await runCases(studio);
    expect(studio.get().cases.refused).toMatchObject({ status: 400 });
    await runCases(opened(WITHOUT));
    expect(asked.length).toBe(1);
  });

  it("is old once the workflow, the test or what tests share is another, and not after other tests", () => {
    const doc = readText(WITH);
    const run: CaseRun = { of: ran("b", []), doc };
    const changed = (from: string, to: string) => isOld(run, readText(WITH.replace(from, to)));
    expect(changed('"order"', '"order", "version": 2, "name": "Order"')).toBe(false);
    expect(changed('"a": {"expect": {}}', '"a": {"expect": {"lines": []}}')).toBe(false);
    expect(changed("WriteLine", "Fault")).toBe(true);
    expect(changed("1.50", "1.5")).toBe(true);
    expect(changed('"say": {}', '"say": {"outcome": "Done"}')).toBe(true);
  });

  it("shows what differs without a line of a text that nobody sees", () => {
    expect(differenceOf("line 4: lines differs\n-a\n+b")).toBe("lines differs\n-a\n+b");
    expect(differenceOf("the run is over")).toBe("the run is over");
  });
});

describe("the text of tests", () => {
  it("is written and read by the server, whose flaws have places", async () => {
    answer = `{"cases": {"tests": {"it": {"n": 1.50}}}, "text": "tests:\\n  it: {}\\n", "flaws": [{"line": 2, "column": 3, "message": "no"}]}`;
    const { file, text, flaws } = await checkCases(members(TESTS));
    expect(asked[0]?.body).toBe(`{"cases":${writeText(readText(TESTS), "")}}`);
    expect(writeText(file ?? null, "")).toBe('{"tests":{"it":{"n":1.50}}}');
    expect([text, flaws]).toEqual(["tests:\n  it: {}\n", [{ line: 2, column: 3, offset: 9, message: "no" }]]);
    await checkCases("tests: 5");
    expect(asked[1]?.body).toBe('{"cases":"tests: 5"}');
  });

  it("is taken for one test; what is for all tests, and a name of another one, is refused", async () => {
    const studio = opened(WITH);
    const before = docOf(studio);
    const reads = (cases: unknown, flaws: unknown[] = []) => {
      answer = JSON.stringify({ cases, text: "x", flaws });
    };
    reads({ calls: {}, tests: {} });
    expect((await takeText(studio, "x", "b"))?.reason).toBe(w.caseWords.only(["calls"]));
    reads({ tests: { a: {} } });
    expect((await takeText(studio, "x", "b"))?.reason).toBe(w.caseWords.clash(["a"]));
    reads(null, [{ line: 1, column: 1, message: "no YAML" }]);
    expect((await takeText(studio, "x", "b"))?.flaws[0]?.message).toBe("no YAML");
    expect(docOf(studio)).toBe(before);
    reads({ tests: { c: { expect: {} } } });
    expect(await takeText(studio, "x", "b")).toBeUndefined();
    expect(namesIn(fileOf(docOf(studio)))).toEqual(["c", "a"]);
  });

  it("is taken for the whole file, and an empty one takes the tests away", async () => {
    const studio = opened(WITH);
    answer = JSON.stringify({ cases: { tests: { only: { expect: {} } } }, text: "x", flaws: [] });
    expect(await takeText(studio, "x")).toBeUndefined();
    expect(fileOf(docOf(studio))).toEqual({ tests: { only: { expect: {} } } });
    expect(await takeText(studio, " \n")).toBeUndefined();
    expect(fileOf(docOf(studio))).toBeUndefined();
    expect(asked.length).toBe(1);
  });

  it("does not change what may not be saved", async () => {
    const studio = opened(WITH);
    studio.isLocked = true;
    removeCase(studio, "a");
    expect(namesIn(fileOf(docOf(studio)))).toEqual(["b", "a"]);
  });
});

it("a test is made by the server of the request of a run", async () => {
  answer = '{"case": {"input": {"n": 1.50}, "expect": {"status": "Finished"}}}';
  const test = await makeCase('{"model":{}}');
  expect(asked[0]).toEqual({ path: expect.stringMatching(/\/tests\/cases\/make$/), body: '{"model":{}}' });
  expect(writeText(test, "")).toBe('{"input":{"n":1.50},"expect":{"status":"Finished"}}');
});

it("the file of tests has the name of the definition's export", () => {
  expect(fileName(readText(WITH))).toBe("workflow-definition-order.test.yaml");
  expect(fileName(readText('{"definitionId": "a/b c.é_1"}'))).toBe("workflow-definition-abc_1.test.yaml");
});

describe("a file to import", () => {
  it("is a definition with its tests, too", async () => {
    answer = `{"cases": ${WITH}, "text": "", "flaws": [{"line": 1, "column": 1, "message": "no"}]}`;
    await readImport(WITH);
    expect(asked).toHaveLength(2);
    expect(readText(asked[1]?.body ?? "")).toEqual({ cases: readText(TESTS) });
  });

  it("is none where it is an archive, or a definition without tests, and it is said which", async () => {
    expect((await readImport("PK\u0003\u0004x")).reason).toBe(w.caseWords.archive);
    expect(asked).toHaveLength(0);
    answer = `{"cases": ${WITHOUT}, "text": "", "flaws": []}`;
    expect((await readImport(WITHOUT)).reason).toBe(w.caseWords.testless);
  });
});
