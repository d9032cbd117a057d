import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it, vi } from "vitest";
import { Code } from "./Code";
import { Pager } from "./Pager";

it("adds no landmark to a page, which may have several of one name", () => {
  const foot = renderToStaticMarkup(
    createElement(Pager, { page: 0, pageSize: 50, total: 60, onPage: vi.fn() }),
  );
  const code = renderToStaticMarkup(createElement(Code, { text: "{}", label: "Total" }));
  for (const drawn of [foot, code]) expect(drawn).not.toMatch(/<(nav|section|aside)\b/);
  expect(foot).toContain('aria-label="Pages"');
});
