import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { giveBack } from "./Dialog";

class Element {
  isConnected = true;
  constructor(readonly canHaveFocus = true) {}
  focus() {
    if (this.canHaveFocus) focused = this;
  }
}

const body = new Element(false);
const page = new Element();
let focused = body;

beforeEach(() => {
  focused = body;
  vi.stubGlobal("HTMLElement", Element);
  vi.stubGlobal("requestAnimationFrame", (act: () => void) => act());
  vi.stubGlobal("document", {
    body,
    getElementById: (id: string) => (id === "page" ? page : null),
    get activeElement() {
      return focused;
    },
  });
});

afterEach(() => vi.unstubAllGlobals());

const after = (before: Element | null) => {
  giveBack(before as never);
  return focused;
};

it("gives the focus back to what had it before the dialog", () => {
  const button = new Element();
  expect(after(button)).toBe(button);
});

it("gives the focus to the page where nothing had it, or what had it takes none now", () => {
  expect(after(body)).toBe(page);
  expect(after(null)).toBe(page);
  expect(after(new Element(false))).toBe(page);
});

it("leaves the focus where something has taken it", () => {
  const other = new Element();
  focused = other;
  expect(after(new Element())).toBe(other);
});
