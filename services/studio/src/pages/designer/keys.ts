import type { ReactFlowInstance } from "@xyflow/react";
import type { Joined } from "../../model/commands";
import { notify } from "../../ui/notices";
import {
  addState,
  arrangeAll,
  copySelected,
  duplicateSelected,
  nudge,
  openAbove,
  openInside,
  pasteText,
  removeSelected,
  selectAlong,
} from "./deeds";
import { showAll, showSelected } from "./fit";
import { SEARCH } from "./Palette";
import type { Studio } from "./store";
import { w } from "./words";

/** What the page does for keys that change nothing in the definition. */
export interface Deeds {
  save: () => void;
  publish: () => void;
  run: () => void;
  tryOut: () => void;
  help: () => void;
  connect: () => void;
}

const ARROWS = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"] as const;

/** Whether somebody types text here. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest("input, textarea, select, [contenteditable=true], .code-host") !== null
  );
}

function withControl(event: KeyboardEvent, studio: Studio, deeds: Deeds): boolean {
  switch (event.key.toLowerCase()) {
    case "z":
      if (event.shiftKey) studio.redo();
      else studio.undo();
      return true;
    case "y":
      studio.redo();
      return true;
    case "d":
      duplicateSelected(studio);
      return true;
    case "a":
      studio.select(studio.get().view.items.map((item) => item.key));
      return true;
    case "s":
      deeds.save();
      return true;
    default:
      return false;
  }
}

/** A card of the page, or one in a container that is opened below its card. */
const CARD = "[data-inside], .react-flow__node";
const ROW = "[data-row]";

const keyOf = (element: Element): string =>
  ["data-inside", "data-id", "data-row"].map((name) => element.getAttribute(name)).find((key) => key) ?? "";

function cardWith(key: string): HTMLElement | null {
  const name = CSS.escape(key);
  return document.querySelector(`.react-flow__node[data-id="${name}"], [data-inside="${name}"]`);
}

/** The card that has the focus, which need not be selected. */
function focusedCard({ target }: KeyboardEvent): string | undefined {
  const card = target instanceof HTMLElement ? target.closest(CARD) : null;
  return card ? keyOf(card) || undefined : undefined;
}

/** Asks what comes after the card that has the focus, or else after the one that is selected. */
function askForActivity(event: KeyboardEvent, studio: Studio): void {
  const focused = focusedCard(event);
  if (focused !== undefined && !studio.get().selected.includes(focused)) studio.select([focused]);
  const { selected } = studio.get();
  const node = selected[0] === undefined ? null : cardWith(selected[0]);
  const box = (node ?? document.getElementById("designer-canvas"))?.getBoundingClientRect();
  const screen =
    node && box ? { x: box.right + 16, y: box.top } : { x: (box?.left ?? 0) + 80, y: (box?.top ?? 0) + 80 };
  studio.set({ adding: { screen, how: {} } });
}

function arrow(event: KeyboardEvent, studio: Studio, flow: ReactFlowInstance): boolean {
  const key = ARROWS.find((one) => one === event.key);
  if (!key) return false;
  if (event.altKey || studio.get().selected.length === 0) {
    selectAlong(studio, key);
    showSelected(studio, flow, true);
    followSelection(studio);
  } else {
    const step = event.shiftKey ? 40 : 8;
    const x = key === "ArrowLeft" ? -step : key === "ArrowRight" ? step : 0;
    nudge(studio, x, key === "ArrowUp" ? -step : key === "ArrowDown" ? step : 0);
  }
  return true;
}

/** Puts the focus into the first field of the inspector. */
function inspect(studio: Studio, isTextSelected = false): void {
  studio.set({ over: "right" });
  // In a narrow window the inspector is shown with that, over the canvas.
  requestAnimationFrame(() => {
    const inspector = document.getElementById("designer-inspector");
    const first = inspector?.querySelector<HTMLElement>("input, textarea, select");
    (first ?? inspector?.querySelector("button"))?.focus();
    if (isTextSelected && first instanceof HTMLInputElement) first.select();
  });
}

/** Adds a state, and puts the focus into its name: what is typed next belongs there. */
export function addStateToName(studio: Studio, how: Joined): void {
  if (studio.isLocked) return;
  addState(studio, undefined, how);
  inspect(studio, true);
}

/** Opens another page. A card that had the focus is gone with its page: the canvas gets it. */
function turnPage(studio: Studio, turn: (studio: Studio) => void): void {
  const canvas = document.getElementById("designer-canvas");
  const isOnCanvas = canvas?.contains(document.activeElement) ?? false;
  const { page } = studio.get();
  turn(studio);
  if (isOnCanvas && studio.get().page !== page) canvas?.focus();
}

/** The card of what is selected; the canvas where nothing is, or where the card takes no focus. */
function focusSelected(studio: Studio): void {
  const card = cardWith(studio.get().selected[0] ?? "");
  // The canvas is moved by its own means: one that the browser scrolls shows its cards at wrong places.
  card?.focus({ preventScroll: true });
  if (card === null || document.activeElement !== card) document.getElementById("designer-canvas")?.focus();
}

/**
 * Where a card or a row of the tree has the focus and another one is selected now, that one gets it: keys act on
 * what is selected.
 */
export function followSelection(studio: Studio): void {
  const { selected } = studio.get();
  const focused = document.activeElement?.closest(`${CARD}, ${ROW}`);
  if (!focused || selected[0] === undefined || selected.includes(keyOf(focused))) return;
  if (!focused.matches(ROW)) focusSelected(studio);
  else document.querySelector<HTMLElement>(`[data-row="${CSS.escape(selected[0])}"]`)?.focus();
}

/**
 * Esc leads from the inspector, from the search of the palette, and from any panel over the canvas, back to the canvas,
 * unless something that a field has open took it.
 */
export function leftInspector(event: KeyboardEvent, studio: Studio): boolean {
  if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return false;
  const isIn = (id: string) => document.getElementById(id)?.contains(event.target as Node | null) ?? false;
  const isInOver = studio.get().over === "left" && isIn("designer-left");
  if (!isIn("designer-inspector") && !isIn(SEARCH) && !isInOver) return false;
  studio.set({ over: undefined });
  focusSelected(studio);
  return true;
}

/** A card that has the focus is selected with Enter or Space. */
function chooseFocused(event: KeyboardEvent, studio: Studio): boolean {
  if (event.key !== "Enter" && event.key !== " ") return false;
  const key = focusedCard(event);
  if (!key || studio.get().selected.includes(key)) return false;
  studio.select([key]);
  return true;
}

/** Whether the focus is in a panel with fields, where a letter that is typed beside a field means no deed. */
function isInForm({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && target.closest("#designer-inspector, #designer-drawer") !== null;
}

/** Does what a key means on the canvas or in the tree; false if it means nothing. */
export function pressed(
  event: KeyboardEvent,
  studio: Studio,
  flow: ReactFlowInstance,
  deeds: Deeds,
): boolean {
  if (event.ctrlKey || event.metaKey) return withControl(event, studio, deeds);
  if (event.key !== "Escape" && isInForm(event)) return false;
  if (chooseFocused(event, studio) || arrow(event, studio, flow)) return true;
  if (event.altKey) return false;
  const letters: Record<string, () => void> = {
    a: () => askForActivity(event, studio),
    "/": () => {
      studio.set({ left: "palette", over: "left" });
      requestAnimationFrame(() => document.getElementById(SEARCH)?.focus());
    },
    c: deeds.connect,
    enter: () => inspect(studio),
    o: () => turnPage(studio, openInside),
    e: () => {
      const [key] = studio.get().selected;
      if (key !== undefined) studio.toggleInPlace(key);
    },
    u: () => turnPage(studio, openAbove),
    f: () => showAll(studio, flow),
    "1": () => void flow.zoomTo(1, { duration: 200 }),
    "+": () => void flow.zoomIn({ duration: 100 }),
    "-": () => void flow.zoomOut({ duration: 100 }),
    l: () => arrangeAll(studio, flow),
    p: deeds.publish,
    r: deeds.run,
    t: deeds.tryOut,
    "?": deeds.help,
    delete: () => removeSelected(studio),
    x: () => removeSelected(studio),
    backspace: () => removeSelected(studio),
    escape: () => {
      studio.set({ over: undefined });
      studio.select([]);
    },
  };
  const act = letters[event.key.toLowerCase()];
  if (!act) return false;
  act();
  return true;
}

/** Copies, cuts and pastes as text, where nobody edits another text. */
export function listenToClipboard(studio: Studio): () => void {
  // On the canvas no text can be selected: what is left selected beside it is not meant.
  const isElsewhere = () =>
    isTyping(document.activeElement) ||
    (!document.getElementById("designer-canvas")?.contains(document.activeElement) &&
      (document.getSelection()?.toString() ?? "") !== "");
  // What lies beneath a dialog is not copied: it may ask for a person to sign in.
  const isBeneath = () => document.querySelector("dialog[open]") !== null;
  const copy = (event: ClipboardEvent) => {
    if (isBeneath() || isElsewhere()) return;
    const text = copySelected(studio);
    if (!text) return;
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    if (event.type === "cut") removeSelected(studio, w.did.cut);
  };
  const paste = (event: ClipboardEvent) => {
    if (isBeneath() || isTyping(document.activeElement)) return;
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (pasteText(studio, text)) event.preventDefault();
    else if (text) notify(w.noClip);
  };
  document.addEventListener("copy", copy);
  document.addEventListener("cut", copy);
  document.addEventListener("paste", paste);
  return () => {
    document.removeEventListener("copy", copy);
    document.removeEventListener("cut", copy);
    document.removeEventListener("paste", paste);
  };
}
