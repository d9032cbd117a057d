import { send } from "../../../api/client";
import { asProblem } from "../../../api/problem";
import { isSame, type Json, readText, writeText } from "../../../model/json";
import type { Studio } from "../store";
import { w } from "../words";
import { bareOf, completed, type Flaw, flawsIn } from "./bare";

/** How long a text rests before the server reads it. */
export const REST_MS = 400;
/** The longest that an answer is waited for. */
const PATIENCE_MS = 20_000;

/** The two ways between the forms. */
export interface Ways {
  shorten: (doc: Json, signal: AbortSignal) => Promise<string>;
  expand: (text: string, signal: AbortSignal) => Promise<Json>;
}

const PATH = "/workflow-definitions/short-form";

const WAYS: Ways = {
  async shorten(doc, signal) {
    const text = `{"model":${writeText(doc, "")}}`;
    const headers = { Accept: "application/yaml" };
    return (await send(`${PATH}/shorten`, { method: "POST", text, headers, signal })).text();
  },
  async expand(text, signal) {
    const headers = { "Content-Type": "application/yaml" };
    const answer = await send(`${PATH}/expand`, { method: "POST", text, headers, signal });
    return readText(await answer.text());
  },
};

const NONE: readonly Flaw[] = [];

export interface Shown {
  /** The text tab shows this form, and not JSON. */
  isOpen: boolean;
  /** The text as it is shown; none before the first is there. */
  text: string | undefined;
  /** The server writes the text, or reads it; or graph and text are the same. */
  is: "writing" | "reading" | "same" | "wrong" | "failed";
  flaws: readonly Flaw[];
  /** Why the server did not answer. */
  error: unknown;
}

/** The definition of a designer as text in the short form. The server writes it and reads it. */
export class ShortText {
  private state: Shown = { isOpen: false, text: undefined, is: "writing", flaws: NONE, error: undefined };
  private readonly listeners = new Set<() => void>();
  /** The definition that the text is the same as, without what the text leaves out. */
  private same: Json | undefined;
  /** The definition that was looked at last. */
  private seen: Json | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asking: AbortController | undefined;
  private work: Promise<void> = Promise.resolve();

  constructor(
    private readonly studio: Studio,
    private readonly ways: Ways = WAYS,
  ) {
    studio.subscribe(() => this.look());
    studio.beforeSave = () => this.settle();
  }

  readonly get = (): Shown => this.state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  private set(part: Partial<Shown>): void {
    this.state = { ...this.state, ...part };
    for (const listener of this.listeners) listener();
  }

  open(isOpen: boolean): void {
    this.set({ isOpen });
    this.look();
  }

  /** Writes the text anew if the definition is another one. What was typed and cannot be read stays. */
  private look(): void {
    const { doc } = this.studio.get().history;
    if (!this.state.isOpen || this.isUnread || doc === this.seen) return;
    this.seen = doc;
    const bare = bareOf(doc);
    if (this.same !== undefined && isSame(bare, this.same)) return;
    this.work = this.write(bare);
  }

  private get isUnread(): boolean {
    return this.studio.get().isUnread;
  }

  private stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.asking?.abort();
  }

  private begin(): AbortSignal {
    this.stop();
    this.asking = new AbortController();
    return AbortSignal.any([this.asking.signal, AbortSignal.timeout(PATIENCE_MS)]);
  }

  private async write(bare: Json): Promise<void> {
    const signal = this.begin();
    const { asking } = this;
    this.same = undefined;
    this.set({ is: "writing", flaws: NONE, error: undefined });
    try {
      const text = await this.ways.shorten(bare, signal);
      if (asking?.signal.aborted) return;
      this.same = bare;
      this.set({ text, is: "same" });
    } catch (error) {
      if (!asking?.signal.aborted) this.set({ is: "failed", error });
    }
  }

  /** Another text was typed. */
  change(text: string): void {
    this.stop();
    this.studio.set({ isUnread: true });
    this.set({ text, is: "reading", error: undefined });
    this.timer = setTimeout(() => this.flush(), REST_MS);
  }

  private flush(): void {
    if (this.timer === undefined) return;
    this.work = this.read(this.state.text ?? "");
  }

  private async read(text: string): Promise<void> {
    const signal = this.begin();
    const { asking } = this;
    this.set({ is: "reading", error: undefined });
    try {
      const written = await this.ways.expand(text, signal);
      if (asking?.signal.aborted) return;
      this.take(written);
    } catch (error) {
      if (asking?.signal.aborted) return;
      const flaws = flawsIn(asProblem(error).body, text);
      if (flaws.length > 0) this.set({ is: "wrong", flaws });
      else this.set({ is: "failed", flaws: NONE, error });
    }
  }

  /** What was typed is the definition now. */
  private take(written: Json): void {
    const next = completed(written, this.studio.get().history.doc);
    // The text stays as it was typed: the definition that comes of it is no reason to write it anew.
    this.studio.do({
      label: w.did.text,
      patches: [{ do: "set", path: [], value: next }],
      merge: "text",
    });
    this.seen = this.studio.get().history.doc;
    this.same = bareOf(this.seen);
    this.studio.set({ isUnread: false });
    this.set({ is: "same", flaws: NONE });
  }

  /** Waits until the server has read what was typed last, such as before a save. */
  async settle(): Promise<void> {
    if (!this.isUnread) return;
    this.flush();
    await this.work;
  }

  /** Forgets what was typed: the text is that of the graph again. */
  drop(): void {
    this.stop();
    this.same = undefined;
    this.seen = undefined;
    this.studio.set({ isUnread: false });
  }

  /** Asks again, where the server did not answer. */
  retry(): void {
    if (this.isUnread) {
      this.work = this.read(this.state.text ?? "");
    } else {
      this.seen = undefined;
      this.look();
    }
  }
}

const texts = new WeakMap<Studio, ShortText>();

/** The text of this designer. It stays while other tabs are shown. */
export function shortTextOf(studio: Studio): ShortText {
  const known = texts.get(studio);
  if (known) return known;
  const text = new ShortText(studio);
  texts.set(studio, text);
  return text;
}
