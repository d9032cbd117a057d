import { createContext, useContext, useSyncExternalStore } from "react";
import { NO_TRIAL, type Trial } from "../../lib/trials";
import { Index } from "../../model/activities";
import type { Joined } from "../../model/commands";
import type { Types } from "../../model/descriptors";
import { type Edit, edit, type History, redo, seal, startHistory, undo } from "../../model/history";
import type { Json } from "../../model/json";
import { placesOf } from "../../model/layout";
import { type Problem, problemsOf } from "../../model/problems";
import type { Renaming } from "../../model/renames";
import { spread } from "../../model/room";
import { type Page, type PageView, type Point, pageAfter, pageOf, ROOT, viewOf } from "../../model/view";
import { heightOf, portsOf } from "./cards";
import type { Cases } from "./cases";
import { aheadIn, isChanged } from "./changed";
import { insidesOf } from "./insides";
import type { Tested } from "./trial";

export type DrawerTab = "problems" | "data" | "text" | "trial" | "cases" | "runs" | "versions";

/** What happened to an activity in the run that is shown. */
export interface Mark {
  status: string;
  runs: number;
  /** Its place among those that ran, in a test run. */
  order?: number;
}

export interface Adding {
  /** Where the list of activities opens, in the window. */
  screen: Point;
  how: Joined;
}

/**
 * What the server has said of the text as it is: nothing yet; what is wrong with it; nothing, since the question
 * failed and is asked again or is of no use; or it is not asked about so long a text.
 */
export type Checked = "no" | "yes" | "failed" | "refused" | "long";

export interface State {
  history: History;
  index: Index;
  page: Page;
  view: PageView;
  places: ReadonlyMap<string, Point>;
  /** Where the canvas shows them: what stands below an opened card is moved down. */
  shown: ReadonlyMap<string, Point>;
  selected: readonly string[];
  /** The containers whose inside is shown below their cards. */
  inPlace: ReadonlySet<string>;
  lines: readonly string[];
  problems: readonly Problem[];
  /** What the server found when it was asked last. */
  found: readonly Problem[];
  /** Whether the server has said what it finds in the text as it is. */
  checked: Checked;
  saved: Json | undefined;
  /** The same version as the server wrote it. */
  server: Json | undefined;
  etag: string | undefined;
  /** The tag of the latest version, if an older one was opened. */
  newer: string | undefined;
  drawer: DrawerTab | undefined;
  /** What has another name now: scripts may use the old one. */
  renamings: readonly Renaming[];
  /** Text that is no definition yet; it is kept while another tab is open. */
  broken: string | undefined;
  /** Text was typed in the short form that the server has not read, or cannot. */
  isUnread: boolean;
  left: "palette" | "tree";
  /** The panel that is open over the canvas, in a window that has no room for it beside. */
  over: "left" | "right" | undefined;
  adding: Adding | undefined;
  marks: ReadonlyMap<string, Mark> | undefined;
  run: { id: string; state: string } | undefined;
  /** What test runs are given. */
  trial: Trial;
  /** What was typed as a pinned result and is none, by the ids of activities. */
  wrongPins: ReadonlyMap<string, string>;
  /** The activity whose pinned result somebody wants to type now. */
  pinAt: string | undefined;
  /** This browser keeps it. */
  isKept: boolean;
  tested: Tested | undefined;
  /** What came of the tests that the definition has with it. */
  cases: Cases;
  /** Why the last test run did not begin, or was not answered. */
  refused: unknown;
}

/** The permission to save a definition. */
export const SAVING = "write:workflow-definitions";

/** Everything that the designer shows, and the ways to change it. */
export class Studio {
  private state: State;
  private readonly listeners = new Set<() => void>();
  private checking: ReturnType<typeof setTimeout> | undefined;
  /** Waits until what was typed in another form of the definition is in it. */
  beforeSave: (() => Promise<void>) | undefined;
  /** Who looks at it may not save it: nothing changes. */
  isLocked = false;

  constructor(
    doc: Json,
    public types: Types,
    saved: Json | undefined,
    etag: string | undefined,
    newer?: string,
  ) {
    const index = new Index(doc, types);
    const view = viewOf(index, ROOT);
    const places = this.placesIn(index, view);
    this.state = {
      history: startHistory(doc),
      index,
      page: ROOT,
      view,
      places,
      shown: places,
      selected: [],
      inPlace: new Set(),
      lines: [],
      problems: [],
      found: [],
      checked: "no",
      saved,
      server: saved,
      etag,
      newer,
      drawer: undefined,
      renamings: [],
      broken: undefined,
      isUnread: false,
      left: "palette",
      over: undefined,
      adding: undefined,
      marks: undefined,
      run: undefined,
      trial: NO_TRIAL,
      wrongPins: new Map(),
      pinAt: undefined,
      isKept: true,
      tested: undefined,
      cases: { results: new Map(), refused: undefined },
      refused: undefined,
    };
    this.check();
  }

  readonly get = (): State => this.state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  set(part: Partial<State>): void {
    this.state = { ...this.state, ...part };
    for (const listener of this.listeners) listener();
  }

  placesIn(index: Index, view: PageView): ReadonlyMap<string, Point> {
    return placesOf(
      view,
      (key) => heightOf(index, key),
      (key) => portsOf(index, key),
    );
  }

  private shownIn(
    index: Index,
    view: PageView,
    places: ReadonlyMap<string, Point>,
    opened: ReadonlySet<string>,
  ): ReadonlyMap<string, Point> {
    const insides = insidesOf(index, view, opened, (from, page) => this.placesIn(from, page));
    return spread(places, (key) => heightOf(index, key), insides);
  }

  private check(): void {
    clearTimeout(this.checking);
    this.checking = setTimeout(() => this.set({ problems: problemsOf(this.state.index) }), 120);
  }

  private show(history: History, page = this.state.page, selected = this.state.selected): void {
    const index =
      history.doc === this.state.history.doc ? this.state.index : new Index(history.doc, this.types);
    const here = page === this.state.page ? pageAfter(index, this.state.view) : page;
    const isThere = here.owner === "" || index.get(here.owner) !== undefined;
    const view = viewOf(index, isThere ? here : ROOT);
    const keys = new Set(view.items.map((item) => item.key));
    const places = this.placesIn(index, view);
    this.set({
      history,
      index,
      view,
      page: view.page,
      places,
      shown: this.shownIn(index, view, places, this.state.inPlace),
      selected: selected.filter((key) => keys.has(key) || this.isInPlace(index, key)),
      lines: this.state.lines.filter((id) => view.lines.some((line) => line.id === id)),
    });
    this.check();
  }

  do(change: Edit): void {
    if (this.isLocked) return;
    const history = edit(this.state.history, change);
    if (history !== this.state.history)
      this.show(history, this.state.page, change.select ?? this.state.selected);
  }

  undo(): void {
    if (this.isLocked) return;
    this.show(undo(this.state.history));
  }

  redo(): void {
    if (this.isLocked) return;
    this.show(redo(this.state.history));
  }

  /** The next edit is undone by itself. */
  seal(): void {
    const history = seal(this.state.history);
    if (history !== this.state.history) this.set({ history });
  }

  open(page: Page, selected: readonly string[] = []): void {
    this.seal();
    this.show(this.state.history, page, selected);
  }

  private isInPlace(index: Index, key: string): boolean {
    const owner = index.get(key)?.owner;
    return owner !== undefined && this.state.inPlace.has(owner);
  }

  /** Shows what is in a container below its card, or hides it. */
  toggleInPlace(key: string): void {
    const inPlace = new Set(this.state.inPlace);
    if (!inPlace.delete(key)) inPlace.add(key);
    const { index, view, places } = this.state;
    this.set({ inPlace, shown: this.shownIn(index, view, places, inPlace) });
  }

  /** The page of the selection: the one that is open, or one that is shown in place. */
  here(page?: Page): { view: PageView; places: ReadonlyMap<string, Point> } {
    const { index, selected, view, places } = this.state;
    const [key] = selected;
    const isOpen = key === undefined || view.items.some((item) => item.key === key);
    const wanted = page ?? (isOpen || !index.get(key) ? undefined : pageOf(index, key));
    if (!wanted) return { view, places };
    const other = viewOf(index, wanted);
    return { view: other, places: this.placesIn(index, other) };
  }

  /** Shows an activity where it is. */
  reveal(key: string): void {
    if (this.state.index.get(key)) this.open(pageOf(this.state.index, key), [key]);
  }

  select(selected: readonly string[], lines: readonly string[] = []): void {
    const same = (one: readonly string[], other: readonly string[]) =>
      one.length === other.length && one.every((key, at) => key === other[at]);
    if (same(selected, this.state.selected) && same(lines, this.state.lines)) return;
    this.seal();
    this.set({ selected, lines });
  }

  /** A saved version is the new beginning; members that only the server sets are taken over. */
  keep(saved: Json, server: Json, etag: string | undefined, doc = this.state.history.doc): void {
    const history = doc === this.state.history.doc ? this.state.history : { ...this.state.history, doc };
    const index = new Index(history.doc, this.types);
    const view = viewOf(index, this.state.page);
    this.set({ history: seal(history), index, view, saved, server, etag, newer: undefined });
  }

  /** What the server offers now: a worker may have registered a type since. */
  learn(types: Types): void {
    if (types === this.types) return;
    this.types = types;
    const index = new Index(this.state.history.doc, types);
    const view = viewOf(index, this.state.page);
    const places = this.placesIn(index, view);
    this.set({ index, view, places, shown: this.shownIn(index, view, places, this.state.inPlace) });
    this.check();
  }

  isDirty(): boolean {
    return isChanged(this.state);
  }

  /** Whether something is lost with the page. */
  isUnsaved(): boolean {
    const { saved, history } = this.state;
    const isBegun = saved !== undefined || history.past.length > 0 || aheadIn(this.state) !== undefined;
    return isBegun && this.isDirty();
  }
}

export const StudioContext = createContext<Studio | undefined>(undefined);

export function useStudio(): Studio {
  const studio = useContext(StudioContext);
  if (!studio) throw new Error("the designer is not open");
  return studio;
}

/** A part of the state; the part must be the same object while it has not changed. */
export function useView<T>(part: (state: State) => T): T {
  const studio = useStudio();
  return useSyncExternalStore(studio.subscribe, () => part(studio.get()));
}
