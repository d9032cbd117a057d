import { expect, it, vi } from "vitest";
import { TYPES } from "../../model/testing";
import { handlersFor } from "./handlers";
import { Studio } from "./store";

it("a click on one of many selected cards selects it alone; with Shift, Ctrl or Meta they stay", () => {
  const line = (id: string) => ({ id, type: "Elsa.WriteLine" });
  const root = { type: "Elsa.Flowchart", id: "flow", activities: [line("a"), line("b"), line("c")] };
  const studio = new Studio({ definitionId: "d", root }, TYPES, undefined, undefined);
  const hands = {
    studio,
    flow: {},
    dragged: { current: undefined },
    setDragged: vi.fn(),
    setGuides: vi.fn(),
  };
  const { onNodeClick } = handlersFor(hands as never);
  const click = (more: object) => onNodeClick(more as never, { id: "b" } as never);
  studio.select(["a", "b", "c"]);
  for (const modifier of ["shiftKey", "ctrlKey", "metaKey"]) click({ [modifier]: true });
  expect(studio.get().selected).toEqual(["a", "b", "c"]);
  click({});
  expect(studio.get().selected).toEqual(["b"]);
});
