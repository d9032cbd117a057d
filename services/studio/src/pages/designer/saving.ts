import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { STUDIO } from "../../api/base";
import { asProblem, Problem } from "../../api/problem";
import { personOf, session } from "../../api/session";
import { place } from "../../app/place";
import { isMembers, type Json, type Members, membersOf, namesOf, objectOf, textOf } from "../../model/json";
import { SET_BY_SERVER } from "../../model/make";
import { complain, notify } from "../../ui/notices";
import { foundBy, isConflict, type Opened, openDefinition, type Saved, saveDefinition } from "./api";
import { aheadIn } from "./changed";
import type { Studio } from "./store";
import { w } from "./words";

/** Members of a definition that saving sets, and nobody edits. */
const SET_BY_SAVING = ["definitionId", ...SET_BY_SERVER];

/** The text of the page, with what the server has set since. */
function withServer(doc: Json, saved: Json): Json {
  if (!isMembers(doc) || !isMembers(saved)) return doc;
  const names = [...new Set([...namesOf(doc), ...SET_BY_SAVING])];
  return objectOf(
    names.flatMap((name): [string, Json][] => {
      const value = SET_BY_SAVING.includes(name) && name in saved ? saved[name] : doc[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** A definition without what the server has set: it is made anew. */
function asNew(doc: Json): Json {
  if (!isMembers(doc)) return doc;
  const names = namesOf(doc).filter((name) => !SET_BY_SERVER.includes(name));
  return objectOf(names.map((name) => [name, doc[name] ?? null]));
}

/** The latest version that others have saved; none where they have removed the definition. */
async function latestOf(definition: string): Promise<Opened | undefined> {
  try {
    return await openDefinition(definition, "Latest");
  } catch (error) {
    if (asProblem(error).status === 404) return undefined;
    throw error;
  }
}

/** Waits for a login where the session is over; whether the same person is back. */
async function isBack(): Promise<boolean> {
  if (!session.isRefused()) return false;
  const person = personOf(session.current());
  await session.accepted();
  return personOf(session.current()) === person;
}

/** What a save says takes the place of what the one before said. */
export const ABOUT = "save";

/** What came of a save: it is done, or somebody else has saved or removed the definition meanwhile. */
export type Sent = { saved: Saved } | { latest: Opened | undefined };

/** Saves what is drawn; where the session is over, once the same person has signed in again. */
export async function sendDrawn(studio: Studio, publish: boolean, over?: string): Promise<Sent> {
  await readTyped(studio);
  studio.seal();
  const { history, etag, saved: before } = studio.get();
  const drawn = history.doc;
  const sent = before === undefined ? asNew(drawn) : drawn;
  const doc: Members = membersOf(sent) ?? {};
  try {
    const saved = await saveDefinition(doc, over ?? etag, publish);
    const kept = withServer(sent, saved.doc);
    const now = studio.get().history.doc;
    studio.keep(kept, saved.doc, saved.etag, now === drawn ? kept : withServer(now, saved.doc));
    return { saved };
  } catch (error) {
    if (asProblem(error).status === 401 && (await isBack())) return sendDrawn(studio, publish, over);
    if (!isConflict(error)) throw error;
    return { latest: await latestOf(textOf(doc.definitionId)) };
  }
}

/** What is drawn belongs to no definition any more: the next save makes a new one of the same id. */
export function forgetSaved(studio: Studio): void {
  studio.set({ saved: undefined, server: undefined, etag: undefined, newer: undefined });
}

/** A new definition has an address now; the router would open the page anew, and lose what can be undone. */
function showAddress(definition: string): void {
  const path = `/definitions/${encodeURIComponent(definition)}/edit`;
  History.prototype.replaceState.call(window.history, window.history.state, "", STUDIO + path);
  place.move(path);
}

export type Busy = "save" | "publish" | undefined;

export interface Publication {
  saved?: Saved;
  error?: unknown;
}

/** Reads what was typed as text. Nothing is saved while a text is there that is no definition. */
export async function readTyped(studio: Studio): Promise<void> {
  await studio.beforeSave?.();
  const form = aheadIn(studio.get());
  if (!form) return;
  studio.set({ drawer: "text" });
  throw new Problem(0, w.textAhead, w.textAheadOf(form), "");
}

export function useSaving(studio: Studio) {
  const client = useQueryClient();
  const [busy, setBusy] = useState<Busy>();
  const [conflict, setConflict] = useState<Opened>();
  const [older, setOlder] = useState<{ latest: Opened; publish: boolean }>();
  const [gone, setGone] = useState<{ publish: boolean }>();
  const [publication, setPublication] = useState<Publication>();

  const send = async (publish: boolean, over?: string): Promise<Saved | undefined> => {
    const isNew = studio.get().saved === undefined;
    const sent = await sendDrawn(studio, publish, over);
    const definition = textOf(membersOf(studio.get().history.doc)?.definitionId);
    if ("saved" in sent) {
      void client.invalidateQueries({ queryKey: ["definition", definition] });
      void client.invalidateQueries({ queryKey: ["definitions"] });
      if (isNew) showAddress(definition);
      return sent.saved;
    }
    const { latest } = sent;
    if (!latest) setGone({ publish });
    else if (studio.get().newer === latest.etag) setOlder({ latest, publish });
    else setConflict(latest);
    return undefined;
  };

  const save = async (over?: string): Promise<boolean> => {
    if (busy) return false;
    setBusy("save");
    try {
      const saved = await send(false, over);
      if (saved) notify(w.savedAs(saved.version), ABOUT);
      return saved !== undefined;
    } catch (error) {
      complain(error, ABOUT);
      return false;
    } finally {
      setBusy(undefined);
    }
  };

  const publish = async (over?: string): Promise<void> => {
    if (busy) return;
    setBusy("publish");
    setPublication({});
    try {
      const saved = await send(true, over);
      setPublication(saved ? { saved } : undefined);
      if (saved) studio.set({ found: saved.warnings });
    } catch (error) {
      const found = foundBy(error);
      if (found.length > 0) studio.set({ found, drawer: "problems" });
      setPublication({ error: asProblem(error) });
    } finally {
      setBusy(undefined);
    }
  };

  /** Does what was asked for, now that one knows of the newer version. */
  const again = async (over: string | undefined): Promise<void> => {
    if (older?.publish) await publish(over);
    else await save(over);
  };

  /** Makes the definition anew that somebody has removed. */
  const anew = async (): Promise<void> => {
    forgetSaved(studio);
    if (gone?.publish) await publish();
    else await save();
  };

  return {
    busy,
    save,
    publish,
    again,
    anew,
    gone,
    setGone,
    conflict,
    setConflict,
    older,
    setOlder,
    publication,
    setPublication,
  };
}

export type Saving = ReturnType<typeof useSaving>;
