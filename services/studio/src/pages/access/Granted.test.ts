import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null });
const { GrantedList } = await import("./Granted");
const { Matrix } = await import("./Matrix");

const drawn = (permissions: string[]) => renderToStaticMarkup(createElement(GrantedList, { permissions }));

it("names each permission of a role, by its area, and how many there are of it", () => {
  const markup = drawn(["read:secrets"]);
  expect(markup).toContain(">read:secrets<");
  expect(markup).toContain("1 of 4");
  expect(markup).not.toContain("write:secrets");
});

it("names what a wide one allows, and what no page of Studio knows", () => {
  const markup = drawn(["read:*", "own:thing"]);
  expect(markup).toContain(">read:*<");
  expect(markup).toContain(">read:secrets<");
  expect(markup).toContain(">own:thing<");
  expect(markup).not.toContain("cancel:");
  expect(drawn([])).toContain("may do nothing");
});

it("the table of roles needs nobody who looks: an administrator has all, a reader a part", () => {
  const role = { createdAt: "2026-11-28T00:00:00Z", tenantId: null };
  const roles = [
    { ...role, id: "admin", name: "Administrator", permissions: ["*"] },
    { ...role, id: "viewer", name: "viewer", permissions: ["read:*"] },
  ];
  const [, ...rows] = renderToStaticMarkup(createElement(Matrix, { roles })).split("<tr").slice(1);
  expect(rows).toHaveLength(2);
  expect(rows[0]).toContain("all 4");
  expect(rows[0]).not.toMatch(/>\d+ of \d+</);
  expect(rows[1]).toContain("1 of 4");
});
