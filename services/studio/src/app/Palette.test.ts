import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it, vi } from "vitest";
import { Choices } from "./Palette";

const drawn = (words: readonly string[]) =>
  renderToStaticMarkup(
    createElement(Choices, {
      choices: words.map((word) => ({ key: word, word, kind: "Page", act: vi.fn() })),
      current: 0,
      onPoint: vi.fn(),
      onRun: vi.fn(),
    }),
  );

it("is a list only where there is something to choose", () => {
  expect(drawn(["Home", "Tasks"]).match(/role="option"/g)).toHaveLength(2);
  expect(drawn([])).not.toContain("listbox");
  expect(drawn([])).toContain("Nothing has this name.");
});
