import { isSame, type Json } from "./json";
import { apply, type Patch } from "./patch";

/** An edit is a value: what to change, and what to select after it. */
export interface Edit {
  /** What was done, for the undo button. */
  label: string;
  patches: readonly Patch[];
  select?: readonly string[];
  /** Edits in a row with the same key are undone together, such as the letters of a word. */
  merge?: string;
}

interface Done {
  label: string;
  forward: readonly Patch[];
  back: readonly Patch[];
  merge?: string;
}

export interface History {
  doc: Json;
  past: readonly Done[];
  future: readonly Done[];
}

const KEPT = 500;

export const startHistory = (doc: Json): History => ({ doc, past: [], future: [] });

export function edit(history: History, change: Edit): History {
  const { doc, back } = apply(history.doc, change.patches);
  if (doc === history.doc || isSame(doc, history.doc)) return history;
  const last = history.past.at(-1);
  if (change.merge !== undefined && last?.merge === change.merge) {
    const joined: Done = {
      ...last,
      forward: [...last.forward, ...change.patches],
      back: [...back, ...last.back],
    };
    return { doc, past: [...history.past.slice(0, -1), joined], future: [] };
  }
  const done: Done = { label: change.label, forward: change.patches, back, merge: change.merge };
  return { doc, past: [...history.past, done].slice(-KEPT), future: [] };
}

export function undo(history: History): History {
  const last = history.past.at(-1);
  if (!last) return history;
  const { doc } = apply(history.doc, last.back);
  return { doc, past: history.past.slice(0, -1), future: [{ ...last, merge: undefined }, ...history.future] };
}

export function redo(history: History): History {
  const [next, ...future] = history.future;
  if (!next) return history;
  const { doc, back } = apply(history.doc, next.forward);
  return { doc, past: [...history.past, { ...next, back }], future };
}

/** Ends a run of edits that are undone together. */
export function seal(history: History): History {
  const last = history.past.at(-1);
  if (!last?.merge) return history;
  return { ...history, past: [...history.past.slice(0, -1), { ...last, merge: undefined }] };
}
