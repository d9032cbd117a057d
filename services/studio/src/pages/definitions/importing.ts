import { json, send } from "../../api/client";
import { asProblem, Problem } from "../../api/problem";
import { isObject } from "../../lib/json";
import { t } from "../../text";

const isYaml = (file: File) => /\.ya?ml$/i.test(file.name);

/** The id of the definition in a file; undefined where the file is no JSON or has none. */
async function idIn(file: File): Promise<string | undefined> {
  if (!/\.(json|ya?ml)$/i.test(file.name)) return undefined;
  try {
    const read: unknown = JSON.parse(await file.text());
    const id = isObject(read) ? (read.definitionId ?? read.DefinitionId) : undefined;
    return typeof id === "string" && id ? id : undefined;
  } catch {
    // The server says what is wrong with the file.
    return undefined;
  }
}

/** A sentence for each file whose definition has the id of an earlier one: the server knows no names of both. */
export async function sameIds(files: readonly File[]): Promise<string[]> {
  const first = new Map<string, File>();
  const said: string[] = [];
  for (const file of files) {
    const id = await idIn(file);
    if (id === undefined) continue;
    const other = first.get(id);
    if (other) said.push(t.definitions.sameId(file.name, other.name, id));
    else first.set(id, file);
  }
  return said;
}

async function expand(file: File): Promise<File> {
  const headers = { "Content-Type": "application/yaml" };
  const text = await file.text();
  const answer = await send("/workflow-definitions/short-form/expand", { method: "POST", text, headers });
  return new File([await answer.text()], file.name);
}

/** These files with those in YAML, the short form, as JSON; or all that is wrong with them. */
export async function expandAll(
  files: readonly File[],
  expanded = expand,
): Promise<{ files: File[]; wrong: string[] }> {
  const all: File[] = [];
  const wrong: string[] = [];
  for (const file of files) {
    try {
      all.push(isYaml(file) ? await expanded(file) : file);
    } catch (error) {
      const problem = asProblem(error);
      // Only what is wrong with the file is told with its name.
      if (problem.status !== 400 && problem.status !== 413) throw error;
      wrong.push(`${file.name}: ${problem.detail}`);
    }
  }
  return { files: all, wrong };
}

/** Sends definitions as files, which are stored as drafts: all of them, or none. */
export async function importFiles(given: readonly File[]): Promise<void> {
  const path = "/workflow-definitions/import-files";
  const nothing = t.definitions.nothingImported;
  const { files, wrong } = await expandAll(given);
  const refused = wrong.length > 0 ? wrong : await sameIds(files);
  if (refused.length > 0) throw new Problem(0, nothing, refused.join(" "), `POST ${path}`, [nothing]);
  const form = new FormData();
  for (const file of files) form.append("files", file, file.name);
  try {
    await json(path, { method: "POST", form });
  } catch (error) {
    const problem = asProblem(error);
    if (problem.status === 400) problem.errors.push(nothing);
    throw problem;
  }
}
