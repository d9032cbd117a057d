import { beforeEach, describe, expect, it, vi } from "vitest";
import { bounded, boundsOf, readSizes, sizeAfter, writeSize } from "./sizes";

const STORE = "staunch.designer.sizes";
/** The pages of Studio stand beside the designer. */
const RAIL = 176;
const kept = new Map<string, string>();

beforeEach(() => {
  kept.clear();
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, text: string) => void kept.set(name, text),
  });
});

describe("the sizes of the panels", () => {
  it("leave a part of any window to the canvas", () => {
    for (const width of [768, 1023, 1024, 1440, 3840]) {
      for (const height of [300, 600, 900, 2160]) {
        const [left, right, drawer] = (["left", "right", "drawer"] as const).map((panel) =>
          boundsOf(panel, { width, height }),
        );
        if (!left || !right || !drawer) throw new Error("no bounds");
        expect(width - RAIL - left.max - right.max).toBeGreaterThan(80);
        for (const one of [left, right, drawer]) {
          expect(one.min).toBeLessThan(one.usual + 1);
          expect(one.usual).toBeLessThan(one.max + 1);
        }
        if (height >= 600) expect(drawer.max).toBeLessThan(height - 200);
      }
    }
  });

  it("are bounded, whatever is wanted", () => {
    expect(bounded(-5, { min: 10, max: 20 })).toBe(10);
    expect(bounded(1e9, { min: 10, max: 20 })).toBe(20);
    expect(bounded(15.4, { min: 10, max: 20 })).toBe(15);
  });

  it("change by keys: the line goes where the arrow points", () => {
    const bounds = { min: 100, max: 300, usual: 200 };
    expect(sizeAfter("ArrowRight", "left", 200, bounds)).toBe(216);
    expect(sizeAfter("ArrowLeft", "left", 200, bounds)).toBe(184);
    expect(sizeAfter("ArrowRight", "right", 200, bounds)).toBe(184);
    expect(sizeAfter("ArrowUp", "drawer", 200, bounds)).toBe(216);
    expect(sizeAfter("ArrowDown", "drawer", 108, bounds)).toBe(100);
    expect(sizeAfter("ArrowUp", "left", 200, bounds)).toBeUndefined();
    expect(sizeAfter("ArrowLeft", "drawer", 200, bounds)).toBeUndefined();
    expect(sizeAfter("Home", "right", 200, bounds)).toBe(100);
    expect(sizeAfter("End", "drawer", 200, bounds)).toBe(300);
    expect(sizeAfter("x", "left", 200, bounds)).toBeUndefined();
  });
});

describe("the sizes that the browser keeps", () => {
  it("are each by itself, and can be forgotten", () => {
    writeSize("left", 300);
    writeSize("drawer", 400);
    expect(readSizes()).toEqual({ left: 300, drawer: 400 });
    writeSize("left", undefined);
    expect(readSizes()).toEqual({ drawer: 400 });
  });

  it.each([
    "no JSON",
    "null",
    "7",
    "[1, 2]",
    '{"left": "300", "right": null, "drawer": {}, "other": 5}',
    '{"left": -1, "right": 0, "drawer": 1e300}',
  ])("are none where %s is kept", (text) => {
    kept.set(STORE, text);
    expect(readSizes()).toEqual({});
    writeSize("right", 350);
    expect(readSizes()).toEqual({ right: 350 });
  });

  it("do without a store", () => {
    const refuse = () => {
      throw new Error("refused");
    };
    vi.stubGlobal("localStorage", { getItem: refuse, setItem: refuse });
    expect(readSizes()).toEqual({});
    writeSize("left", 300);
  });
});
