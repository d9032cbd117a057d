import { get, id, json, send } from "../../api/client";
import { asProblem } from "../../api/problem";
import type { Api } from "../../api/types";
import { Index } from "../../model/activities";
import { Types } from "../../model/descriptors";
import {
  isMembers,
  type Json,
  listOf,
  type Members,
  membersOf,
  readText,
  textOf,
  writeText,
} from "../../model/json";
import type { Problem } from "../../model/problems";

export interface Opened {
  doc: Json;
  etag: string | undefined;
}

/** What only the answers of the API have is no part of a definition. */
function withoutLinks(doc: Json): Json {
  if (!isMembers(doc) || !("links" in doc)) return doc;
  const { links: _, ...rest } = doc;
  return rest;
}

/** Whether an activity has no id of its own: then only the other answer names the one that it runs under. */
function lacksIds(doc: Json): boolean {
  return [...new Index(doc, new Types([])).entries.keys()].some((key) => key.startsWith("/"));
}

async function read(path: string, version: string, signal?: AbortSignal): Promise<Opened> {
  const answer = await send(path, { query: { versionOptions: version }, signal });
  return { doc: withoutLinks(readText(await answer.text())), etag: answer.headers.get("ETag") ?? undefined };
}

/** Opens a definition in the form of its file, which has nothing that its author did not write. */
export async function openDefinition(
  definition: string,
  version: string,
  signal?: AbortSignal,
): Promise<Opened> {
  const file = await read(`/workflow-definitions/${id(definition)}/export`, version, signal);
  if (!lacksIds(file.doc)) return file;
  return read(`/workflow-definitions/by-definition-id/${id(definition)}`, version, signal);
}

export const loadVariableTypes = async (signal?: AbortSignal): Promise<string[]> =>
  (await get<Api["Items_VariableType"]>("/descriptors/variables", undefined, signal)).items.map(
    (one) => one.typeName,
  );

export interface Saved extends Opened {
  version: number;
  everywhere: boolean | undefined;
  missing: string[];
  warnings: Problem[];
  ms: number;
}

function problemsIn(list: Json | undefined, isWarning: boolean): Problem[] {
  return listOf(list).flatMap((one): Problem[] => {
    const held = membersOf(one);
    if (!held) return [];
    const key = textOf(held.activityId) || undefined;
    return [
      {
        fault: { is: "server", message: textOf(held.message) },
        key,
        member: textOf(held.property) || undefined,
        isWarning,
      },
    ];
  });
}

/** Saves; the `ETag` of the version that was opened guards what others have saved since. */
export async function saveDefinition(
  doc: Members,
  etag: string | undefined,
  publish: boolean,
): Promise<Saved> {
  const began = performance.now();
  const headers: Record<string, string> =
    etag === undefined ? { "If-None-Match": "*" } : { "If-Match": etag };
  const answer = await send("/workflow-definitions", {
    method: "POST",
    text: `{"model":${writeText(doc, "")},"publish":${publish}}`,
    headers,
  });
  const said = membersOf(readText(await answer.text())) ?? {};
  const saved = membersOf(withoutLinks(said.workflowDefinition ?? null)) ?? {};
  return {
    doc: saved,
    etag: answer.headers.get("ETag") ?? undefined,
    version: Number(saved.version ?? 0),
    everywhere: typeof said.everywhere === "boolean" ? said.everywhere : undefined,
    missing: listOf(said.missing).map(String),
    warnings: problemsIn(said.validationWarnings, true),
    ms: Math.round(performance.now() - began),
  };
}

/** All that the server found in a definition that it did not publish. */
export function foundBy(error: unknown): Problem[] {
  const { body } = asProblem(error);
  const errors = problemsIn(body.validationErrors as Json | undefined, false);
  return [...errors, ...problemsIn(body.validationWarnings as Json | undefined, true)];
}

export const isConflict = (error: unknown): boolean => asProblem(error).status === 412;

export interface Ran {
  id: string;
  state: string;
}

/** Starts the version that was saved last, and waits a moment for it. */
export async function runDefinition(definition: string, input: unknown, correlationId: string): Promise<Ran> {
  const instanceId = crypto.randomUUID();
  const body = { input, instanceId, versionOptions: "Latest", ...(correlationId ? { correlationId } : {}) };
  const path = `/workflow-definitions/${id(definition)}/execute`;
  try {
    await send(path, { method: "POST", body, headers: { Prefer: "wait=2" } });
  } catch (error) {
    // A run that failed at once is a run, too; without an instance nothing was started.
    if (foundBy(error).length > 0 || !(await hasInstance(instanceId))) throw error;
  }
  return { id: instanceId, state: "Executing" };
}

async function hasInstance(instance: string): Promise<boolean> {
  try {
    await get(`/workflow-instances/${id(instance)}`);
    return true;
  } catch {
    return false;
  }
}

/** Tries one activity of a saved version alone. */
export const testActivity = (
  definitionId: string,
  versionOptions: string,
  activityId: string,
): Promise<Api["TestRun"]> =>
  json<Api["TestRun"]>("/tests/activities", {
    method: "POST",
    body: { workflowDefinitionHandle: { definitionId, versionOptions }, activityHandle: { activityId } },
  });

/** Who saved last, if the caller may know. */
export async function whoSaved(definition: string): Promise<{ who: string; at: string } | undefined> {
  try {
    const page = await get<Api["Paged_AuditEntry"]>("/audit", { target: definition, pageSize: 5 });
    const entry = page.items.find((one) => one.what.startsWith("definition") && one.outcome === "done");
    return entry && { who: entry.who, at: entry.at };
  } catch {
    return undefined;
  }
}
