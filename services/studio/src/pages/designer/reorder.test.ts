import type { NodeChange } from "@xyflow/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type Json, listOf, type Members, membersOf } from "../../model/json";
import { listAround, listOfEntry } from "../../model/order";
import { TYPES } from "../../model/testing";
import { pageInside, pageOf } from "../../model/view";
import { nudge, reorderBy } from "./deeds";
import { type Dragged, handlersFor } from "./handlers";
import { type CardNode, nodesOf } from "./nodes";
import { Studio } from "./store";

const line = (id: string): Members => ({ id, type: "Elsa.WriteLine" });
const opened = (root: Json): Studio => new Studio({ definitionId: "d", root }, TYPES, undefined, undefined);
const sequence = () => {
  const activities = [line("a"), { id: "s", type: "Elsa.Sequence", activities: [line("i")] }, line("c")];
  return opened({ id: "root", type: "Elsa.Sequence", activities });
};
const fork = () => opened({ id: "root", type: "Elsa.Fork", branches: ["a", "b", "c", "d", "e"].map(line) });
const choose = () => {
  const cases = ["a", "b", "c"].map((id) => ({
    label: id.toUpperCase(),
    condition: { type: "JavaScript", value: id },
    ...(id === "b" ? {} : { activity: line(id) }),
  }));
  return opened({ id: "root", type: "Elsa.Switch", cases });
};
const root = (studio: Studio): Members => membersOf(membersOf(studio.get().history.doc)?.root) ?? {};
const keys = (studio: Studio) => studio.get().view.items.map((item) => item.key);
const labels = (studio: Studio) => listOf(root(studio).cases).map((one) => membersOf(one)?.label);

beforeEach(() => void vi.useFakeTimers());

/** Drags a card of the open page by so much, and lets it go. */
function dragCard(studio: Studio, key: string, by: { x: number; y: number }) {
  const dragged: { current: Dragged } = { current: undefined };
  const guides: number[] = [];
  const flow = {} as Parameters<typeof handlersFor>[0]["flow"];
  const handlers = handlersFor({
    studio,
    flow,
    dragged,
    setDragged: (next) => {
      dragged.current = next;
    },
    setGuides: (all) => guides.push(all.length),
  });
  const moved = [key, ...studio.get().selected.filter((one) => one !== key)].map(
    (id): NodeChange<CardNode> => {
      const at = studio.get().shown.get(id) ?? { x: 0, y: 0 };
      return { type: "position", id, position: { x: at.x + by.x, y: at.y + by.y }, dragging: true };
    },
  );
  handlers.onNodeDragStart(undefined, { id: key } as CardNode);
  handlers.onNodesChange(moved.reverse());
  const held = [...(dragged.current ?? new Map()).keys()];
  handlers.onNodeDragStop({ clientX: 0, clientY: 0 } as MouseEvent);
  expect(dragged.current).toBeUndefined();
  expect(guides.at(-1)).toBe(0);
  return { held, isLineShown: guides[0] === 1 };
}

const down = (studio: Studio, from: string, to: string) =>
  (studio.get().shown.get(to)?.y ?? 0) - (studio.get().shown.get(from)?.y ?? 0) + 30;

describe("a card of a list", () => {
  it("is dragged to another place, in one step, as by a key", () => {
    const studio = sequence();
    const before = studio.get().history.doc;
    expect(dragCard(studio, "a", { x: 30, y: down(studio, "a", "s") })).toEqual({
      held: ["a"],
      isLineShown: true,
    });
    expect(keys(studio)).toEqual(["s", "a", "c"]);
    expect(studio.get().selected).toEqual(["a"]);
    expect(studio.get().history.past).toHaveLength(1);
    const byMouse = studio.get().history;
    studio.undo();
    expect(studio.get().history.doc).toEqual(before);
    studio.select(["a"]);
    nudge(studio, 0, 8);
    expect(studio.get().history).toEqual(byMouse);
  });

  it("goes further than its neighbour, and alone of all that are selected", () => {
    const studio = sequence();
    studio.select(["a", "c"]);
    expect(dragCard(studio, "c", { x: 0, y: down(studio, "c", "a") - 40 }).held).toEqual(["c"]);
    expect(keys(studio)).toEqual(["c", "a", "s"]);
  });

  it("stays where it was if it is let go there, or outside of the list", () => {
    const studio = sequence();
    const before = studio.get().history;
    expect(dragCard(studio, "a", { x: 0, y: 10 }).isLineShown).toBe(false);
    expect(dragCard(studio, "a", { x: 600, y: down(studio, "a", "c") }).isLineShown).toBe(false);
    expect(dragCard(studio, "a", { x: 0, y: 2000 }).isLineShown).toBe(false);
    expect(studio.get().history).toBe(before);
  });

  it("is dragged across where the list is side by side", () => {
    const studio = fork();
    const x = (key: string) => studio.get().shown.get(key)?.x ?? 0;
    expect(keys(studio).map(x)).toEqual(
      keys(studio)
        .map(x)
        .sort((one, other) => one - other),
    );
    dragCard(studio, "e", { x: x("b") - x("e") - 10, y: 0 });
    expect(keys(studio)).toEqual(["a", "e", "b", "c", "d"]);
  });

  it("is not dragged in a version that can only be looked at", () => {
    const studio = sequence();
    const draggable = (isReadonly: boolean, isLocked = false) => {
      const { index, view, shown, selected, marks, inPlace } = studio.get();
      const from = { index, view, places: shown, selected, problems: new Map(), marks, inPlace };
      const nodes = nodesOf({ ...from, pins: new Map(), isReadonly, isLocked }, new Map());
      return nodes.map((node) => node.draggable);
    };
    expect(draggable(false)).toEqual([true, true, true]);
    expect(draggable(true)).toEqual([false, false, false]);
    expect(draggable(false, true)).toEqual([false, false, false]);
  });
});

describe("lists", () => {
  it("are of steps, of branches and of cases", () => {
    const around = (studio: Studio, key: string) => {
      const entry = studio.get().index.get(key);
      return entry && listAround(studio.get().index, entry);
    };
    expect(around(sequence(), "a")).toBe("root");
    expect(around(sequence(), "i")).toBe("s");
    expect(around(fork(), "a")).toBe("root");
    expect(around(choose(), "a")).toBe("root cases");
    expect(around(sequence(), "root")).toBeUndefined();
    expect(around(opened({ id: "r", type: "Elsa.Flowchart", activities: [line("a")] }), "a")).toBeUndefined();
    expect(around(opened({ id: "r", type: "Elsa.For", body: line("a") }), "a")).toBeUndefined();
    const state = { name: "S", entry: line("a") };
    expect(around(opened({ id: "r", type: "Elsa.StateMachine", states: [state] }), "a")).toBeUndefined();
    expect(listOfEntry(choose().get().index, "c").map(({ path }) => path.join("/"))).toEqual([
      "root/cases/0",
      "root/cases/2",
    ]);
  });

  it("a case moves with its activity past those that are empty, and its page goes with it", () => {
    const studio = choose();
    const before = studio.get().history.doc;
    studio.open(pageOf(studio.get().index, "a"), ["a"]);
    expect(studio.get().page.slot).toBe("cases/0/activity");
    reorderBy(studio, "a", 1);
    expect(labels(studio)).toEqual(["B", "C", "A"]);
    expect(studio.get().page.slot).toBe("cases/2/activity");
    expect(studio.get().selected).toEqual(["a"]);
    studio.undo();
    expect(studio.get().history.doc).toEqual(before);
    expect(studio.get().page.slot).toBe("cases/0/activity");
    expect(keys(studio)).toEqual(["a"]);
  });

  it("what goes beyond its list, or stands in none, stays", () => {
    const studio = sequence();
    const before = studio.get().history;
    for (const [key, by] of [
      ["a", -1],
      ["a", 3],
      ["a", 0],
      ["root", 1],
      ["nobody", 1],
    ] as const)
      reorderBy(studio, key, by);
    expect(studio.get().history).toBe(before);
    studio.open(pageInside(studio.get().index, "s"));
    expect(keys(studio)).toEqual(["i"]);
  });
});
