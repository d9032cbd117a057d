import { describe, expect, it } from "vitest";
import { arrange, HEIGHT, WIDTH } from "./layout";
import { gathered, roomOn, spread } from "./room";
import type { Line, PageView, Point } from "./view";
import { ROOT } from "./view";

const line = (from: string, to: string, port = "Done"): Line => ({
  id: `${from}|${port}|${to}`,
  from,
  to,
  port,
  targetPort: "In",
  index: 0,
});

const page = (keys: readonly string[], lines: Line[]): PageView => ({
  page: ROOT,
  kind: "flow",
  path: ["root"],
  items: keys.map((key) => ({ key, path: [] })),
  lines,
});

function covered(places: readonly Point[]): boolean {
  return places.some((one, at) =>
    places
      .slice(at + 1)
      .some((other) => Math.abs(one.x - other.x) < WIDTH && Math.abs(one.y - other.y) < HEIGHT),
  );
}

describe("arrange", () => {
  it("keeps a page at the origin when it turns it over", () => {
    const lines = [line("a", "b", "False"), line("a", "c", "True")];
    const places = [...arrange(page(["a", "b", "c"], lines), undefined, () => ["True", "False"]).values()];
    const turned = [...arrange(page(["a", "b", "c"], lines), undefined, () => ["False", "True"]).values()];
    for (const all of [places, turned]) {
      expect(Math.min(...all.map(({ y }) => y))).toBeGreaterThanOrEqual(0);
      expect(Math.max(...all.map(({ y }) => y))).toBeLessThan(4 * HEIGHT);
    }
    expect(turned).not.toEqual(places);
  });
});

describe("roomOn", () => {
  it("moves what is to the right of the line, and nothing is covered", () => {
    const places = new Map([
      ["a", { x: 0, y: 0 }],
      ["b", { x: 272, y: 0 }],
      ["c", { x: 544, y: 80 }],
      ["left", { x: 40, y: 200 }],
    ]);
    const { at, moved } = roomOn(line("a", "b"), places, { x: 140, y: 0 });
    expect([...moved.keys()]).toEqual(["b", "c"]);
    expect(at).toEqual({ x: 272, y: 0 });
    expect(moved.get("b")).toEqual({ x: 544, y: 0 });
    expect(moved.get("c")).toEqual({ x: 816, y: 80 });
    expect(covered([at, ...[...places].map(([key, was]) => moved.get(key) ?? was)])).toBe(false);
  });

  it("moves nothing where the card fits, or where the line leads back", () => {
    const places = new Map([
      ["a", { x: 0, y: 0 }],
      ["b", { x: 600, y: 0 }],
    ]);
    const wide = roomOn(line("a", "b"), places, { x: 0, y: 0 });
    expect(wide).toEqual({ at: { x: 232, y: 0 }, moved: new Map() });
    const back = roomOn(line("b", "a"), places, { x: 10, y: 0 });
    expect(back.moved.size).toBe(0);
    expect(covered([back.at, ...places.values()])).toBe(false);
  });
});

describe("spread", () => {
  const places = new Map([
    ["open", { x: 0, y: 0 }],
    ["beside", { x: 272, y: 0 }],
    ["under", { x: 0, y: 100 }],
    ["lower", { x: 272, y: 300 }],
    ["far", { x: 2000, y: 90 }],
  ]);

  it("moves what an inside would cover, and what is below that", () => {
    const shown = spread(places, () => 80, new Map([["open", { width: 240, height: 100 }]]));
    expect(shown.get("beside")).toEqual({ x: 272, y: 0 });
    expect(shown.get("under")).toEqual({ x: 0, y: 212 });
    expect(shown.get("lower")).toEqual({ x: 272, y: 412 });
    expect(shown.get("far")).toEqual({ x: 2000, y: 90 });
    expect(gathered({ x: 5, y: 500 }, places, shown)).toEqual({ x: 5, y: 388 });
    expect(gathered({ x: 5, y: 10 }, places, shown)).toEqual({ x: 5, y: 10 });
  });

  it("changes nothing where nothing is opened or covered", () => {
    expect(spread(places, () => 80, new Map())).toBe(places);
    const alone = new Map([["open", { x: 0, y: 0 }]]);
    expect(spread(alone, () => 80, new Map([["open", { width: 9, height: 9 }]]))).toEqual(alone);
  });
});
