import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null });
const { GrantedList } = await import("./Granted");

const KNOWN = ["read:workflow-instances", "cancel:workflow-instances", "read:secrets"];
const drawn = (permissions: string[]) =>
  renderToStaticMarkup(createElement(GrantedList, { permissions, known: KNOWN }));

it("names each permission of a role, by its area", () => {
  const markup = drawn(["read:workflow-instances", "read:secrets"]);
  expect(markup).toContain(">read:workflow-instances<");
  expect(markup).toContain(">read:secrets<");
  expect(markup).toContain("1 of 2");
  expect(markup).not.toContain("cancel:workflow-instances");
});

it("names what a wide one allows, and what no page of Studio knows", () => {
  const markup = drawn(["read:*", "own:thing"]);
  expect(markup).toContain(">read:*<");
  expect(markup).toContain(">read:secrets<");
  expect(markup).toContain(">own:thing<");
  expect(markup).not.toContain("cancel:");
  expect(drawn([])).toContain("may do nothing");
});
