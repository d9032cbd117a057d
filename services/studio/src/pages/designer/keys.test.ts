import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TYPES } from "../../model/testing";
import { addState } from "./deeds";
import {
  addStateToName,
  type Deeds,
  followSelection,
  leftInspector,
  listenToClipboard,
  pressed,
} from "./keys";
import { SEARCH } from "./Palette";
import { Studio } from "./store";

class Box {
  constructor(
    readonly id: string,
    readonly canHaveFocus = true,
  ) {}
  focus() {
    if (this.canHaveFocus) focused = this;
  }
  contains = (other: unknown): boolean => isField(other);
}

const isField = (other: unknown): boolean => other === field;

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

const machine = () =>
  new Studio(
    { definitionId: "d", root: { type: "Elsa.StateMachine", id: "m", states: [] } },
    TYPES,
    undefined,
    undefined,
  );

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

it("Esc in the search of the palette leads to the canvas, also beside it", () => {
  const boxes: Record<string, unknown> = { "designer-canvas": canvas, [SEARCH]: { contains: isField } };
  vi.stubGlobal("document", { getElementById: (id: string) => boxes[id] ?? null, querySelector: () => null });
  expect(leftInspector(press(), opened([]))).toBe(true);
  expect(focused).toBe(canvas);
});

it("what is typed after a state was added goes into its name, once it is drawn", () => {
  class Input extends Box {
    select = vi.fn();
  }
  const name = new Input("name");
  let drawn: Input | null = null;
  let draw: () => void = () => undefined;
  vi.stubGlobal("HTMLInputElement", Input);
  vi.stubGlobal("document", { getElementById: () => ({ querySelector: () => drawn }) });
  vi.stubGlobal("requestAnimationFrame", (then: () => void) => {
    draw = then;
  });
  const studio = machine();
  addStateToName(studio, {});
  expect(studio.get().selected).toEqual(["state:State1"]);
  expect(studio.get().over).toBe("right");
  drawn = name;
  draw();
  expect(focused).toBe(name);
  expect(name.select).toHaveBeenCalledOnce();
});

it("who may not save adds no state", () => {
  const studio = machine();
  studio.isLocked = true;
  addStateToName(studio, {});
  expect([studio.get().view.items, studio.get().over]).toEqual([[], undefined]);
});

it("O with the focus on a card leads to the canvas of the page that opens, and stays elsewhere", () => {
  vi.stubGlobal("HTMLElement", class {});
  const ground = { contains: (other: unknown) => other === card, focus: () => canvas.focus() };
  vi.stubGlobal("document", {
    getElementById: () => ground,
    get activeElement() {
      return focused;
    },
  });
  for (const [from, to] of [
    [card, canvas],
    [field, field],
  ] as const) {
    const studio = machine();
    addState(studio, undefined, {});
    focused = from as Box;
    pressed(press({ key: "o", target: from }), studio, {} as never, {} as Deeds);
    expect(studio.get().page.slot).toBe("states/0/entry");
    expect(focused).toBe(to);
  }
});

it("in a narrow window keys open a panel over the canvas, and Esc closes it", () => {
  vi.stubGlobal("HTMLElement", class {});
  vi.stubGlobal("requestAnimationFrame", () => 0);
  const studio = opened(["a"]);
  const over = () => studio.get().over;
  const type = (key: string) => pressed(press({ key }), studio, {} as never, {} as Deeds);
  expect(over()).toBeUndefined();
  type("Enter");
  expect(over()).toBe("right");
  type("/");
  expect([over(), studio.get().left]).toEqual(["left", "palette"]);
  expect(leftInspector(press(), studio)).toBe(true);
  expect(over()).toBeUndefined();
  type("/");
  type("Escape");
  expect(over()).toBeUndefined();
});

it("A with the focus on a card asks what comes after it, whatever is selected", () => {
  class Element {
    closest = (wanted: string) => (wanted.includes("node") ? { getAttribute: () => "a" } : null);
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

describe("the focus follows what is selected", () => {
  class Place {
    constructor(
      readonly name: string,
      readonly key: string,
    ) {}
    matches = (wanted: string) => wanted.includes(this.name === "data-id" ? ".react-flow__node" : this.name);
    closest = (wanted: string) => (this.matches(wanted) ? this : null);
    getAttribute = (name: string) => (name === this.name ? this.key : null);
    getBoundingClientRect = () => ({ right: 0, top: 0, left: 0, width: 300, height: 200 });
    focus() {
      active = this;
    }
  }
  let active: Place;
  const flow = () => ({ getViewport: () => ({ x: 0, y: 0, zoom: 1 }), setViewport: vi.fn() });

  /** A line leads from the first card to the second, which stands out of sight; the second is selected. */
  function page(name: string): Studio {
    const places = ["a", "b"].map((key) => new Place(name, key));
    vi.stubGlobal("HTMLElement", Place);
    vi.stubGlobal("document", {
      getElementById: () => new Place("canvas", ""),
      querySelector: (wanted: string) =>
        places.find((one) => wanted.includes(`[${name}="${one.key}"]`)) ?? null,
      get activeElement() {
        return active;
      },
    });
    const at = (x: number) => ({ designer: { position: { x, y: 0 } } });
    const root = {
      type: "Elsa.Flowchart",
      id: "flow",
      activities: [
        { id: "a", type: "Elsa.WriteLine", metadata: at(-150) },
        { id: "b", type: "Elsa.WriteLine", metadata: at(300) },
      ],
      connections: [{ source: { activity: "a", port: "Done" }, target: { activity: "b", port: "In" } }],
    };
    const studio = new Studio({ definitionId: "d", root }, TYPES, undefined, undefined);
    studio.select(["b"]);
    active = places[1] as Place;
    return studio;
  }

  it.each(["data-id", "data-inside", "data-row"])("along a line: %s", (name) => {
    const studio = page(name);
    const canvas = flow();
    const key = press({ key: "ArrowLeft", altKey: true, target: active });
    expect(pressed(key, studio, canvas as never, {} as Deeds)).toBe(true);
    expect(studio.get().selected).toEqual(["a"]);
    expect(active.key).toBe("a");
    // A part of the card is seen: the canvas shows all of it.
    expect(canvas.setViewport).toHaveBeenCalledOnce();
    pressed(press({ key: "a", target: active }), studio, canvas as never, {} as Deeds);
    expect(studio.get().selected).toEqual(["a"]);
    expect(studio.get().adding).toBeDefined();
  });

  it("and stays on one of several that are selected", () => {
    const studio = page("data-id");
    studio.select(["a", "b"]);
    followSelection(studio);
    expect(active.key).toBe("b");
  });
});

it("what lies beneath a dialog, such as the sign-in of somebody else, is neither copied nor changed", () => {
  let dialog: Box | null = null;
  const heard = new Map<string, (event: unknown) => void>();
  vi.stubGlobal("HTMLElement", class {});
  vi.stubGlobal("document", {
    activeElement: null,
    getElementById: () => canvas,
    getSelection: () => null,
    querySelector: (wanted: string) => (wanted === "dialog[open]" ? dialog : null),
    addEventListener: (name: string, listener: (event: unknown) => void) => heard.set(name, listener),
  });
  const studio = opened(["a"]);
  listenToClipboard(studio);
  const setData = vi.fn();
  const fire = (type: string) =>
    heard.get(type)?.({ type, preventDefault: vi.fn(), clipboardData: { setData, getData: () => "" } });
  fire("copy");
  expect(setData).toHaveBeenCalledOnce();
  dialog = new Box("sign-in");
  const { doc } = studio.get().history;
  fire("copy");
  fire("cut");
  expect(setData).toHaveBeenCalledOnce();
  expect(studio.get().history.doc).toBe(doc);
});

it("a letter beside a field of a panel does nothing, and Ctrl Z undoes there as well", () => {
  class Element {
    closest = (wanted: string) => (wanted.includes("#designer-inspector") ? this : null);
  }
  vi.stubGlobal("HTMLElement", Element);
  const publish = vi.fn();
  const studio = opened(["a"]);
  const { doc } = studio.get().history;
  const type = (key: string, more: object = {}) =>
    pressed(press({ key, target: new Element(), ...more }), studio, {} as never, { publish } as never);
  for (const key of ["x", "Delete", "p", "a", "ArrowUp"]) expect(type(key)).toBe(false);
  expect(publish).not.toHaveBeenCalled();
  expect(studio.get().history.doc).toBe(doc);
  expect(type("z", { ctrlKey: true })).toBe(true);
});
