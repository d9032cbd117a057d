import { json } from "../../api/client";
import { asProblem } from "../../api/problem";
import { isObject } from "../../lib/json";
import { t } from "../../text";

/** The draft that a file has become. */
export interface ImportedFile {
  file: string;
  definitionId: string;
  name: string | null;
  version: number;
  /** The definition had no version before. */
  isNew: boolean;
}

/** What became of files: of each a draft, or of none. */
export interface Imported {
  files: ImportedFile[];
  /** Files in a zip that are neither JSON nor YAML. */
  leftOut: string[];
}

/** Sends definitions as files, which are stored as drafts: all of them, or none. */
export async function importFiles(files: readonly File[]): Promise<Imported> {
  const form = new FormData();
  for (const file of files) form.append("files", file, file.name);
  try {
    return await json<Imported>("/workflow-definitions/import-files", { method: "POST", form });
  } catch (error) {
    const problem = asProblem(error);
    if (problem.status === 400) problem.errors.push(t.definitions.nothingImported);
    throw problem;
  }
}

/** What a refusal says of each file that is wrong. */
export function wrongFiles(refusal: unknown): string[] {
  const { failed } = asProblem(refusal).body;
  if (!Array.isArray(failed)) return [];
  return failed.flatMap((one: unknown) =>
    isObject(one) && typeof one.detail === "string" ? [one.detail] : [],
  );
}
