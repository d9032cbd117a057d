import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Code } from "./Code";
import { Confirm, Dialog, giveBack, takeFocus } from "./Dialog";

class Element {
  isConnected = true;
  constructor(public canHaveFocus = true) {}
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

const after = (before: Element | null, heir?: Element) => {
  giveBack(before as never, heir && (() => heir as never));
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

it("gives the focus of a row that is gone to its heir", () => {
  const next = new Element();
  expect(after(new Element(false), next)).toBe(next);
  focused = body;
  expect(after(null, new Element(false))).toBe(page);
  focused = body;
  const button = new Element();
  expect(after(button, next)).toBe(button);
});

it("leaves the focus where something has taken it", () => {
  const other = new Element();
  focused = other;
  expect(after(new Element())).toBe(other);
});

it("gives the focus to what was opened beneath a dialog, once the dialog is gone", () => {
  const button = new Element();
  const panel = new Element(false);
  takeFocus(panel as never);
  expect(focused).toBe(body);
  panel.canHaveFocus = true;
  expect(after(button)).toBe(panel);
  // The next dialog gives the focus back as ever.
  focused = body;
  expect(after(button)).toBe(button);
});

it("forgets what was opened beneath a dialog and is gone", () => {
  const button = new Element();
  const panel = new Element(false);
  takeFocus(panel as never);
  panel.isConnected = false;
  panel.canHaveFocus = true;
  expect(after(button)).toBe(button);
});

it("a question that has become needless says why, and offers no more than to close it", () => {
  const asked = (isOver?: string) =>
    renderToStaticMarkup(
      createElement(
        Confirm,
        { title: "Cancel it", verb: "Cancel this instance", isOver, act: vi.fn(), onClose: vi.fn() },
        "It ends for good.",
      ),
    );
  expect(asked()).toContain("It ends for good.");
  const over = asked("It had ended already.");
  expect(over).toContain("It had ended already.");
  expect(over).not.toContain("It ends for good.");
  expect(over.match(/<button/g)).toHaveLength(1);
  expect(over).not.toContain("Cancel this instance");
});

it("a dialog that shows something once is closed by its button only, and begins at the button that copies", () => {
  const shown = (isHeld: boolean) => {
    const children = createElement(Code, { text: "s3cret", label: "Key", isToCopy: isHeld });
    const props = { title: "Key", onClose: vi.fn(), isHeld, children };
    return renderToStaticMarkup(createElement(Dialog, props));
  };
  expect(shown(true)).toContain('closedby="none"');
  expect(shown(true)).toMatch(/<button[^>]*aria-label="Copy"[^>]*autofocus/i);
  expect(shown(false)).not.toMatch(/closedby|autofocus/i);
});
