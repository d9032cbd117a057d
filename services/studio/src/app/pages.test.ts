import { expect, it } from "vitest";
import { allows } from "../api/session";
import { COMMANDS, isInBar, lackedAt, offered, PAGES } from "./pages";

const to = (granted: string[] | undefined) => {
  const may = (permission: string) => allows(granted, permission);
  return { pages: offered(PAGES, may), commands: offered(COMMANDS, may).map(({ key }) => key) };
};

it("offers a new workflow to those who may write definitions, and to nobody else", () => {
  expect(to(undefined).commands).toEqual(["newWorkflow"]);
  expect(to(["*"]).commands).toEqual(["newWorkflow"]);
  expect(to(["write:workflow-definitions"]).commands).toEqual(["newWorkflow"]);
  expect(to(["read:*"]).commands).toEqual([]);
  expect(to([]).commands).toEqual([]);
});

it("offers the pages of which a user may see something", () => {
  expect(to([]).pages.map(({ key }) => key)).toEqual(["home"]);
  expect(to(["read:nodes"]).pages.map(({ key }) => key)).toEqual(["home", "messages", "cluster"]);
  expect(to(["*"]).pages).toEqual(PAGES);
});

it("knows the pages by address that a user may not see", () => {
  const lacked = (path: string, granted: string[]) =>
    lackedAt(path, (permission) => allows(granted, permission))?.key;
  expect(lacked("/", [])).toBeUndefined();
  expect(lacked("/nowhere", [])).toBeUndefined();
  expect(lacked("/definitions", [])).toBe("definitions");
  expect(lacked("/definitions/order/edit", [])).toBe("definitions");
  expect(lacked("/definitions/order/edit", ["read:workflow-definitions"])).toBeUndefined();
  expect(lacked("/definitions/new", ["write:workflow-definitions"])).toBeUndefined();
  expect(lacked("/definitions/new", [])).toBe("definitions");
  expect(lacked("/instances/one", ["read:nodes"])).toBe("instances");
  expect(lacked("/messages", ["read:nodes"])).toBeUndefined();
});

it("has as many pages in the bar of a phone as there is room for", () => {
  const shown = (count: number) =>
    Array.from({ length: count }, (_, at) => isInBar(at, count)).filter(Boolean);
  expect(shown(10)).toHaveLength(4);
  expect(shown(6)).toHaveLength(4);
  expect(shown(5)).toHaveLength(5);
  expect(shown(1)).toHaveLength(1);
});
