import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it, vi } from "vitest";
import type { Session } from "../api/session";
import { Lost } from "./Lost";

const ada: Session = { kind: "user", name: "ada", access: "", refresh: "" };

const drawn = (former: Session) =>
  renderToStaticMarkup(createElement(Lost, { former, onBack: vi.fn(), onDrop: vi.fn() }));
const buttons = (markup: string) =>
  [...markup.matchAll(/<button[^>]*>(.*?)<\/button>/g)].map(([, inside = ""]) =>
    inside.replace(/<[^>]*>/g, ""),
  );

it("offers somebody else no more than to sign in as the one whose changes they are, or to discard them", () => {
  expect(drawn(ada)).toContain("This page has unsaved changes of ada.");
  expect(buttons(drawn(ada))).toEqual(["Sign in as ada", "Discard them and go on"]);
});

it("names those without a name, and never a key", () => {
  const key = drawn({ kind: "key", key: "very-secret" });
  expect(key).not.toContain("very-secret");
  expect(buttons(key)).toEqual(["Sign in with that API key", "Discard them and go on"]);
  expect(buttons(drawn({ kind: "none" }))).toEqual(["Go on without signing in", "Discard them and go on"]);
});
