import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { followDrops } from "./drops";

beforeEach(() => vi.stubGlobal("Element", class {}));
afterEach(() => vi.unstubAllGlobals());

const FILE = { name: "a.json" } as File;

/** A drag of files, or of something else, as the window hears it. */
function drag(kind: string, types: string[] = ["Files"], relatedTarget: unknown = null) {
  const event = new Event(kind, { cancelable: true });
  const dataTransfer = { types, files: types.includes("Files") ? [FILE] : [], dropEffect: "move" };
  return Object.assign(event, { dataTransfer, relatedTarget });
}

function windowWith(drops: Parameters<typeof followDrops>[1]) {
  const page = new EventTarget();
  const leave = followDrops(page as never, drops);
  const send = (event: ReturnType<typeof drag>) => {
    page.dispatchEvent(event);
    return event;
  };
  return { send, leave };
}

it("files that are dropped anywhere are taken, and the browser does not open them", () => {
  const take = vi.fn();
  const onOver = vi.fn();
  const { send, leave } = windowWith({ take, onOver });
  const over = send(drag("dragover"));
  expect([over.defaultPrevented, over.dataTransfer.dropEffect]).toEqual([true, "copy"]);
  send(drag("dragleave", ["Files"], {}));
  expect(onOver.mock.calls).toEqual([[true]]);
  expect(send(drag("drop")).defaultPrevented).toBe(true);
  expect(take).toHaveBeenCalledWith([FILE]);
  expect(onOver).toHaveBeenLastCalledWith(false);
  leave();
  expect(send(drag("drop")).defaultPrevented).toBe(false);
});

it("who may take none loses no page to them, and other drags stay as they are", () => {
  const { send } = windowWith({});
  const over = send(drag("dragover"));
  expect([over.defaultPrevented, over.dataTransfer.dropEffect]).toEqual([true, "none"]);
  expect(send(drag("drop")).defaultPrevented).toBe(true);
  const text = send(drag("dragover", ["text/plain"]));
  expect([text.defaultPrevented, text.dataTransfer.dropEffect]).toEqual([false, "move"]);
});
