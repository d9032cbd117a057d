import { json } from "../../api/client";
import { asProblem, Problem } from "../../api/problem";
import { isObject } from "../../lib/json";
import { t } from "../../text";

/** The id of the definition in a file; undefined where the file is no JSON or has none. */
async function idIn(file: File): Promise<string | undefined> {
  if (!file.name.toLowerCase().endsWith(".json")) return undefined;
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

/** Sends definitions as files, which are stored as drafts: all of them, or none. */
export async function importFiles(files: readonly File[]): Promise<void> {
  const path = "/workflow-definitions/import-files";
  const nothing = t.definitions.nothingImported;
  const same = await sameIds(files);
  if (same.length > 0) throw new Problem(0, nothing, same.join(" "), `POST ${path}`, [nothing]);
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
