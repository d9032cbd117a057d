import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { STUDIO } from "../../api/base";
import { asProblem } from "../../api/problem";
import { place } from "../../app/place";
import { isMembers, type Json, type Members, membersOf, namesOf, objectOf, textOf } from "../../model/json";
import { SET_BY_SERVER } from "../../model/make";
import { complain, notify } from "../../ui/notices";
import { foundBy, isConflict, type Opened, openDefinition, type Saved, saveDefinition } from "./api";
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

export function useSaving(studio: Studio) {
  const client = useQueryClient();
  const [busy, setBusy] = useState<Busy>();
  const [conflict, setConflict] = useState<Opened>();
  const [older, setOlder] = useState<{ latest: Opened; publish: boolean }>();
  const [publication, setPublication] = useState<Publication>();

  const send = async (publish: boolean, over?: string): Promise<Saved | undefined> => {
    await studio.beforeSave?.();
    studio.seal();
    const { history, etag, saved: before } = studio.get();
    const sent = history.doc;
    const doc: Members = membersOf(sent) ?? {};
    try {
      const saved = await saveDefinition(doc, over ?? etag, publish);
      const kept = withServer(sent, saved.doc);
      const now = studio.get().history.doc;
      studio.keep(kept, saved.doc, saved.etag, now === sent ? kept : withServer(now, saved.doc));
      void client.invalidateQueries({ queryKey: ["definition", textOf(doc.definitionId)] });
      void client.invalidateQueries({ queryKey: ["definitions"] });
      if (before === undefined) showAddress(textOf(doc.definitionId));
      return saved;
    } catch (error) {
      if (!isConflict(error)) throw error;
      const latest = await openDefinition(textOf(doc.definitionId), "Latest");
      if (studio.get().newer === latest.etag) setOlder({ latest, publish });
      else setConflict(latest);
      return undefined;
    }
  };

  const save = async (over?: string): Promise<boolean> => {
    if (busy) return false;
    setBusy("save");
    try {
      const saved = await send(false, over);
      if (saved) notify(w.savedAs(saved.version));
      return saved !== undefined;
    } catch (error) {
      complain(error);
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

  return { busy, save, publish, again, conflict, setConflict, older, setOlder, publication, setPublication };
}

export type Saving = ReturnType<typeof useSaving>;
