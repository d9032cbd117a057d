import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null, setItem: vi.fn(), removeItem: vi.fn() });
const { Login } = await import("./Login");
const { session } = await import("../api/session");
// The page of the server says nothing of the ways to sign in.
vi.stubGlobal("document", { querySelector: () => null });

const drawn = () => renderToStaticMarkup(createElement(Login, { onDone: vi.fn() }));

it("asks for a key again where a key was refused", () => {
  session.set({ kind: "key", key: "wrong" });
  expect(drawn()).toContain("The server does not take this key.");
  expect(drawn()).toMatch(/aria-selected="true"[^>]*>API key</);
  expect(drawn()).not.toContain("Password");
});

it("asks for a user otherwise, with the name of the one who was there", () => {
  session.set({ kind: "user", name: "ada", access: "a", refresh: "r" });
  expect(drawn()).toMatch(/aria-selected="true"[^>]*>User</);
  expect(drawn()).toContain('value="ada"');
});
