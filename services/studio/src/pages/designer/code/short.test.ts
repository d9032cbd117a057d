import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Problem } from "../../../api/problem";
import { type Json, type Members, membersOf, textOf } from "../../../model/json";
import { Steps } from "../../../model/steps";
import { TYPES } from "../../../model/testing";
import { readTyped } from "../saving";
import { Studio } from "../store";
import { REST_MS, ShortText, type Ways } from "./short";

const place: Members = { designer: { position: { x: 3, y: 4 } } };
const order: Members = {
  definitionId: "order",
  version: 2,
  name: "Order",
  root: { type: "Elsa.WriteLine", id: "line", metadata: place },
};

/** A server whose short form is the name of the definition. */
function world(more: Partial<Ways> = {}) {
  const asked: string[] = [];
  const ways: Ways = {
    shorten: async (doc) => {
      asked.push(`shorten ${textOf(membersOf(doc)?.name)}`);
      return `name: ${textOf(membersOf(doc)?.name)}\n`;
    },
    expand: async (text): Promise<Json> => {
      asked.push(`expand ${text.trim()}`);
      return {
        definitionId: "order",
        name: text.slice(6).trim(),
        root: { type: "Elsa.WriteLine", id: "line" },
      };
    },
    ...more,
  };
  const studio = new Studio(order, TYPES, order, undefined);
  const text = new ShortText(studio, ways);
  return { studio, text, asked };
}

const rename = (studio: Studio, name: string) =>
  studio.do(new Steps(studio.get().history.doc).set(["name"], name).edit("rename"));
const docOf = (studio: Studio) => membersOf(studio.get().history.doc) ?? {};
const settled = () => vi.advanceTimersByTimeAsync(REST_MS);
const wrong = (...flaws: Json[]) =>
  new Problem(400, "Bad request", "It is wrong.", "POST", [], undefined, undefined, { flaws });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("the text in the short form", () => {
  it("is written when it is shown, and again when the graph is another one", async () => {
    const { studio, text, asked } = world();
    rename(studio, "Unseen");
    await settled();
    expect(asked).toEqual([]);
    text.open(true);
    expect(text.get().is).toBe("writing");
    await settled();
    expect(text.get()).toMatchObject({ is: "same", text: "name: Unseen\n" });
    rename(studio, "Sale");
    await settled();
    expect(text.get().text).toBe("name: Sale\n");
    studio.undo();
    await settled();
    expect(text.get().text).toBe("name: Unseen\n");
    expect(asked).toEqual(["shorten Unseen", "shorten Sale", "shorten Unseen"]);
  });

  it("is not written again where only a card was moved, or the server has set a version", async () => {
    const { studio, text, asked } = world();
    text.open(true);
    await settled();
    const { doc } = studio.get().history;
    studio.do(
      new Steps(doc).set(["root", "metadata"], { designer: { position: { x: 9, y: 9 } } }).edit("move"),
    );
    studio.keep(order, order, "1", { ...docOf(studio), version: 3 });
    await settled();
    expect(asked).toEqual(["shorten Order"]);
  });

  it("becomes the graph once it rests, with the places of activities, and is undone at once", async () => {
    const { studio, text, asked } = world();
    text.open(true);
    await settled();
    text.change("name: Sal");
    text.change("name: Sale");
    expect(text.get()).toMatchObject({ is: "reading", text: "name: Sale" });
    await settled();
    expect(asked).toEqual(["shorten Order", "expand name: Sale"]);
    expect(text.get()).toMatchObject({ is: "same", text: "name: Sale" });
    expect(docOf(studio)).toEqual({ ...order, name: "Sale" });
    text.change("name: Sales");
    await settled();
    studio.undo();
    expect(studio.get().history.doc).toEqual(order);
    studio.redo();
    expect(docOf(studio).name).toBe("Sales");
  });

  it("stays as it is typed while it is no definition, with the marks of the flaws", async () => {
    const expand = vi.fn<Ways["expand"]>();
    const { studio, text } = world({ expand });
    text.open(true);
    await settled();
    expand.mockRejectedValueOnce(wrong({ line: 2, column: 3, message: "no" }));
    text.change("name: x\n  y");
    await settled();
    const flaw = { line: 2, column: 3, offset: 10, message: "no" };
    expect(text.get()).toMatchObject({ is: "wrong", text: "name: x\n  y", flaws: [flaw] });
    expect(studio.get().history.doc).toBe(order);
    rename(studio, "Meanwhile");
    text.open(false);
    text.open(true);
    await settled();
    expect(text.get()).toMatchObject({ is: "wrong", text: "name: x\n  y" });
    expand.mockResolvedValueOnce({ ...order, name: "x" });
    text.change("name: x");
    expect(text.get().flaws).toEqual([flaw]);
    await settled();
    expect(text.get()).toMatchObject({ is: "same", flaws: [] });
    expect(docOf(studio).name).toBe("x");
  });

  it("is an unsaved change from the first letter on, and nothing is saved while it cannot be read", async () => {
    const expand = vi
      .fn<Ways["expand"]>()
      .mockRejectedValueOnce(wrong({ line: 1, column: 1, message: "no" }))
      .mockResolvedValueOnce({ ...order, name: "Sale" });
    const { studio, text } = world({ expand });
    text.open(true);
    await settled();
    expect([studio.isDirty(), studio.isUnsaved()]).toEqual([false, false]);
    text.change("name: [");
    expect([studio.isDirty(), studio.isUnsaved()]).toEqual([true, true]);
    await expect(readTyped(studio)).rejects.toThrow("YAML");
    expect(text.get().is).toBe("wrong");
    expect(studio.get().drawer).toBe("text");
    expect([studio.isDirty(), studio.isUnsaved()]).toEqual([true, true]);
    text.change("name: Sale");
    await readTyped(studio);
    expect(docOf(studio).name).toBe("Sale");
    studio.keep(studio.get().history.doc, order, "2");
    expect([studio.isDirty(), studio.isUnsaved()]).toEqual([false, false]);
  });

  it("is that of the graph again where one drops what was typed", async () => {
    const { studio, text, asked } = world({
      expand: vi.fn<Ways["expand"]>().mockRejectedValue(wrong({ line: 1, column: 1, message: "no" })),
    });
    text.open(true);
    await settled();
    text.change("name: [");
    await settled();
    text.drop();
    await settled();
    expect(text.get()).toMatchObject({ is: "same", text: "name: Order\n", flaws: [] });
    expect(asked).toEqual(["shorten Order", "shorten Order"]);
    expect(studio.isUnsaved()).toBe(false);
    await readTyped(studio);
  });

  it("is asked for again where the server did not answer", async () => {
    const { studio, text } = world({
      shorten: vi
        .fn<Ways["shorten"]>()
        .mockRejectedValueOnce(new Error("away"))
        .mockResolvedValue("name: Order\n"),
      expand: vi
        .fn<Ways["expand"]>()
        .mockRejectedValueOnce(new Error("away"))
        .mockResolvedValue({ ...order, name: "Sale" }),
    });
    text.open(true);
    await settled();
    expect(text.get()).toMatchObject({ is: "failed", text: undefined });
    text.retry();
    await settled();
    expect(text.get()).toMatchObject({ is: "same", text: "name: Order\n" });
    text.change("name: Sale");
    await settled();
    expect(text.get()).toMatchObject({ is: "failed", text: "name: Sale" });
    expect(studio.get().history.doc).toBe(order);
    text.retry();
    await settled();
    expect(text.get().is).toBe("same");
    expect(docOf(studio).name).toBe("Sale");
  });

  it("is read before a save, and an answer to an earlier text counts no more", async () => {
    const late: ((doc: Json) => void)[] = [];
    const expand: Ways["expand"] = () => new Promise((resolve) => late.push(resolve));
    const { studio, text } = world({ expand });
    text.open(true);
    await settled();
    text.change("name: First");
    await settled();
    text.change("name: Second");
    const saving = studio.beforeSave?.().then(() => docOf(studio).name);
    late[0]?.({ ...order, name: "First" });
    await vi.advanceTimersByTimeAsync(0);
    expect(studio.get().history.doc).toBe(order);
    late[1]?.({ ...order, name: "Second" });
    await expect(saving).resolves.toBe("Second");
  });
});
