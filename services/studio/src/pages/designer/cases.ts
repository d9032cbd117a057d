import { json, send } from "../../api/client";
import type { Api } from "../../api/types";
import {
  isSame,
  type Json,
  type Members,
  membersOf,
  namesOf,
  objectOf,
  readText,
  textOf,
  writeText,
} from "../../model/json";
import { type Patch, type Path, valueAt } from "../../model/patch";
import { type Flaw, flawsIn } from "./code/bare";
import type { Studio } from "./store";
import { PATIENCE_MS, withIds } from "./trial";
import { w } from "./words";

/** The custom property of a definition that has its tests: the content of a test file. */
export const MEMBER = "Staunch.Tests";
const CUSTOM = "customProperties";
const AT: Path = [CUSTOM, MEMBER];
const NONE: Members = {};

/** The result of one test, and the definition that it ran with. */
export interface CaseRun {
  of: Api["TestCaseRun"];
  doc: Json;
}

/** What came of the tests that were run. */
export interface Cases {
  results: ReadonlyMap<string, CaseRun>;
  /** Why the last ones did not run. */
  refused: unknown;
}

/** The tests that a definition has with it, with what they share. */
export const fileOf = (doc: Json): Members | undefined => membersOf(valueAt(doc, AT));

/** The name of the file of tests: as the export of the definition has it, so `staunch test` finds that beside it. */
export const fileName = (doc: Json): string =>
  `workflow-definition-${textOf(membersOf(doc)?.definitionId).replace(/[^A-Za-z0-9_-]/g, "")}.test.yaml`;

const testsOf = (file: Members | undefined): Members => membersOf(file?.tests) ?? NONE;

export const namesIn = (file: Members | undefined): string[] => namesOf(testsOf(file));

/** The file with these tests in the place of its own; none if there are none. */
function withTests(
  file: Members | undefined,
  tests: readonly (readonly [string, Json])[],
): Members | undefined {
  if (tests.length === 0) return undefined;
  const names = namesOf(file ?? NONE);
  const all = names.includes("tests") ? names : [...names, "tests"];
  return objectOf(all.map((name) => [name, name === "tests" ? objectOf(tests) : (file?.[name] ?? null)]));
}

const entriesOf = (tests: Members): [string, Json][] =>
  namesOf(tests).map((name) => [name, tests[name] ?? null]);

/** The file with other tests in the place of one: none, the same one changed, or several. */
export function replaced(file: Members | undefined, name: string, tests: Members): Members | undefined {
  const own = entriesOf(testsOf(file));
  return withTests(
    file,
    own.flatMap((entry) => (entry[0] === name ? entriesOf(tests) : [entry])),
  );
}

export const added = (file: Members | undefined, name: string, test: Json): Members | undefined =>
  withTests(file, [...entriesOf(testsOf(file)), [name, test]]);

/** A name that no test has. */
export function freshName(file: Members | undefined): string {
  const taken = new Set(namesIn(file));
  const first = w.caseWords.newName;
  let name = first;
  for (let number = 2; taken.has(name); number++) name = `${first} ${number}`;
  return name;
}

function patchesFor(doc: Json, file: Members | undefined): Patch[] {
  const custom = membersOf(valueAt(doc, [CUSTOM]));
  if (file && custom) return [{ do: "set", path: AT, value: file }];
  if (file) return [{ do: "set", path: [CUSTOM], value: objectOf([[MEMBER, file]]) }];
  return custom && Object.hasOwn(custom, MEMBER) ? [{ do: "remove", path: AT }] : [];
}

/** Puts tests into the definition that is open, as one edit. */
export function keepFile(studio: Studio, did: keyof typeof w.caseWords.did, file: Members | undefined): void {
  const patches = patchesFor(studio.get().history.doc, file);
  if (patches.length > 0) studio.do({ label: w.caseWords.did[did], patches });
}

export function removeCase(studio: Studio, name: string): void {
  keepFile(studio, "remove", replaced(fileOf(studio.get().history.doc), name, NONE));
}

/** What a test runs with besides itself. */
const MEANT = ["root", "variables", "inputs", "outputs", "options"];

function sharedOf(file: Members | undefined): Members {
  const names = namesOf(file ?? NONE).filter((name) => name !== "tests");
  return objectOf(names.map((name) => [name, file?.[name] ?? null]));
}

/** Whether a result is not that of the test and the workflow as they are. */
export function isOld({ of: { name }, doc: before }: CaseRun, doc: Json): boolean {
  if (before === doc) return false;
  const [one, other] = [membersOf(before) ?? NONE, membersOf(doc) ?? NONE];
  if (MEANT.some((member) => !isSame(one[member], other[member]))) return true;
  const [was, is] = [fileOf(before), fileOf(doc)];
  return !isSame(testsOf(was)[name], testsOf(is)[name]) || !isSame(sharedOf(was), sharedOf(is));
}

/** The difference without its line, which is one of a text that nobody sees. */
export const differenceOf = (text: string): string => text.replace(/^line \d+: /, "");

/** Runs tests with the workflow as it is drawn, saved or not: all of them, or one. */
export async function runCases(studio: Studio, only?: string): Promise<void> {
  await studio.beforeSave?.();
  const { history, index } = studio.get();
  const { doc } = history;
  const own = entriesOf(testsOf(fileOf(doc)));
  const file = withTests(
    fileOf(doc),
    own.filter(([name]) => only === undefined || name === only),
  );
  if (!file) return;
  try {
    const model = writeText(withIds(index).doc, "");
    const text = `{"model":${model},"cases":${JSON.stringify(writeText(file))}}`;
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const ran = await json<Api["TestCasesRun"]>("/tests/cases", { method: "POST", text, signal });
    const results = new Map(studio.get().cases.results);
    for (const of of ran.cases) results.set(of.name, { of, doc });
    studio.set({ cases: { results, refused: undefined } });
  } catch (refused) {
    studio.set({ cases: { ...studio.get().cases, refused } });
  }
}

/**
 * What the server answers to `/tests/cases/check`: `TestCasesChecked` of the API, read so that no number is
 * written in another way.
 */
export interface Checked {
  /** None if the text is no object in YAML or JSON. */
  file: Members | undefined;
  text: string;
  flaws: Flaw[];
}

/** Reads the text of a test file, or writes the text of its content. */
export async function checkCases(cases: string | Members, asked?: AbortSignal): Promise<Checked> {
  const limit = AbortSignal.timeout(PATIENCE_MS);
  const signal = asked ? AbortSignal.any([asked, limit]) : limit;
  const sent = typeof cases === "string" ? JSON.stringify(cases) : writeText(cases, "");
  const answer = await send("/tests/cases/check", { method: "POST", text: `{"cases":${sent}}`, signal });
  const said = membersOf(readText(await answer.text())) ?? NONE;
  const text = textOf(said.text);
  return { file: membersOf(said.cases), text, flaws: flawsIn(said, text) };
}

/** What a file to import holds, and why it is none of tests if that is known better than by its flaws. */
export async function readImport(text: string): Promise<Checked & { reason?: string }> {
  if (text.startsWith("PK\u0003\u0004"))
    return { file: undefined, text, flaws: [], reason: w.caseWords.archive };
  const read = await checkCases(text);
  const isDefinition = read.file && ("root" in read.file || "flow" in read.file) && !("tests" in read.file);
  if (!read.file || !isDefinition) return read;
  const own = fileOf(read.file);
  return own ? checkCases(own) : { ...read, reason: w.caseWords.testless };
}

/** Makes a test of the run that this request started: `TestCaseMade` of the API. */
export async function makeCase(request: string): Promise<Json> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const answer = await send("/tests/cases/make", { method: "POST", text: request, signal });
  return membersOf(readText(await answer.text()))?.case ?? null;
}

/** Why a text was not taken. */
export interface Refused {
  flaws: readonly Flaw[];
  reason?: string;
}

/** Takes a text for one test, or for the whole file; what is wrong with it, if it is not taken. */
export async function takeText(studio: Studio, text: string, only?: string): Promise<Refused | undefined> {
  const { file: read, flaws } = text.trim() === "" ? { file: NONE, flaws: [] } : await checkCases(text);
  if (flaws.length > 0 || !read) return { flaws };
  const file = fileOf(studio.get().history.doc);
  if (only === undefined) {
    keepFile(studio, "edit", read === NONE ? undefined : read);
    return undefined;
  }
  const shared = namesOf(sharedOf(read)).filter((name) => name !== "$schema");
  if (shared.length > 0) return { flaws, reason: w.caseWords.only(shared) };
  const others = new Set(namesIn(file).filter((name) => name !== only));
  const clashes = namesIn(read).filter((name) => others.has(name));
  if (clashes.length > 0) return { flaws, reason: w.caseWords.clash(clashes) };
  keepFile(studio, "edit", replaced(file, only, testsOf(read)));
  return undefined;
}

/** The text for one test, or for the whole file. */
export const contentFor = (doc: Json, only?: string): Members | undefined => {
  const file = fileOf(doc);
  return only === undefined ? file : objectOf([["tests", objectOf([[only, testsOf(file)[only] ?? null]])]]);
};
