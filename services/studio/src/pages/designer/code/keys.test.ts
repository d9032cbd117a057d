import type { EditorView } from "@codemirror/view";
import { expect, it, vi } from "vitest";
import { keysOf } from "./keys";

const none = () => undefined;
const has = (kind: { isBig: boolean; isReadOnly: boolean }, key: string) =>
  keysOf({ ...kind, leave: none }).some((one) => one.key === key);

it("Tab leads on to the next field, and indents only in a big editor that can be changed", () => {
  expect(has({ isBig: false, isReadOnly: false }, "Tab")).toBe(false);
  expect(has({ isBig: true, isReadOnly: true }, "Tab")).toBe(false);
  expect(has({ isBig: true, isReadOnly: false }, "Tab")).toBe(true);
});

it.each([true, false])("Esc leaves an editor last, after what else it means (big: %s)", (isBig) => {
  const leave = vi.fn();
  const escapes = keysOf({ isBig, isReadOnly: false, leave }).filter((one) => one.key === "Escape");
  expect(escapes.length).toBeGreaterThan(1);
  // It took the key: the page does nothing more with it.
  expect(escapes.at(-1)?.run?.({} as EditorView)).toBe(true);
  expect(leave).toHaveBeenCalledOnce();
});
