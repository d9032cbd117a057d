import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { TYPES } from "../../model/testing";
import { type Deeds, leftInspector, pressed } from "./keys";
import { Studio } from "./store";

class Box {
  constructor(
    readonly id: string,
    readonly canHaveFocus = true,
  ) {}
  focus() {
    if (this.canHaveFocus) focused = this;
  }
  contains(other: unknown): boolean {
    return other === field;
  }
}

const field = new Box("field");
const canvas = new Box("canvas");
const inspector = new Box("inspector");
let card: Box | null = null;
let focused = field;

beforeEach(() => {
  focused = field;
  card = new Box("card");
  vi.useFakeTimers();
  vi.stubGlobal("CSS", { escape: (text: string) => text });
  vi.stubGlobal("document", {
    getElementById: (id: string) => (id === "designer-canvas" ? canvas : inspector),
    querySelector: (wanted: string) => (wanted.includes('[data-id="a"]') ? card : null),
    get activeElement() {
      return focused;
    },
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function opened(selected: string[]): Studio {
  const root = { type: "Elsa.Flowchart", id: "flow", activities: [{ id: "a", type: "Elsa.WriteLine" }] };
  const studio = new Studio({ definitionId: "d", root }, TYPES, undefined, undefined);
  studio.select(selected);
  return studio;
}

const press = (more: object = {}) =>
  ({
    key: "Escape",
    target: field,
    defaultPrevented: false,
    isComposing: false,
    ...more,
  }) as unknown as KeyboardEvent;

it("Esc in a field of the inspector leads to the selected card, and keeps it selected", () => {
  const studio = opened(["a"]);
  expect(leftInspector(press(), studio)).toBe(true);
  expect(focused).toBe(card);
  expect(studio.get().selected).toEqual(["a"]);
});

it("Esc leads to the canvas where no card is, or where it takes no focus", () => {
  expect(leftInspector(press(), opened([]))).toBe(true);
  expect(focused).toBe(canvas);
  focused = field;
  card = new Box("far", false);
  leftInspector(press(), opened(["a"]));
  expect(focused).toBe(canvas);
});

it.each([
  ["another key", { key: "a" }],
  ["what the editor had open took it", { defaultPrevented: true }],
  ["a word is being composed", { isComposing: true }],
  ["it was pressed elsewhere", { target: canvas }],
])("the focus stays: %s", (_, more) => {
  expect(leftInspector(press(more), opened(["a"]))).toBe(false);
  expect(focused).toBe(field);
});

it("A with the focus on a card asks what comes after it, whatever is selected", () => {
  class Element {
    closest = () => ({ getAttribute: () => "a" });
    getBoundingClientRect = () => ({ right: 100, top: 10 });
  }
  vi.stubGlobal("HTMLElement", Element);
  const target = new Element();
  vi.stubGlobal("document", { querySelector: () => target, getElementById: () => target });
  const studio = opened([]);
  expect(pressed(press({ key: "a", target }), studio, {} as never, {} as Deeds)).toBe(true);
  expect(studio.get().selected).toEqual(["a"]);
  expect(studio.get().adding?.screen).toEqual({ x: 116, y: 10 });
});
