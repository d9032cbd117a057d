import { expect, it } from "vitest";
import { readViews, withoutView, withView, writeViews } from "./views";

const storeOf = (text: string | null) => {
  let held = text;
  const setItem = (_: string, value: string) => {
    held = value;
  };
  return { getItem: () => held, setItem };
};

it("keeps a view under its name, and replaces one of the same name", () => {
  const store = storeOf(null);
  const one = withView(readViews(store), { name: " Failed today ", search: { state: "Faulted" } });
  const two = withView(one, { name: "Mine", search: { q: "me" } });
  writeViews(store, withView(two, { name: "Failed today", search: { state: "Faulted", since: "24h" } }));
  expect(readViews(store)).toEqual([
    { name: "Mine", search: { q: "me" } },
    { name: "Failed today", search: { state: "Faulted", since: "24h" } },
  ]);
  expect(withoutView(readViews(store), "Mine").map(({ name }) => name)).toEqual(["Failed today"]);
  expect(withView(two, { name: "  ", search: {} })).toEqual(two);
});

it("takes what is no list of views for none", () => {
  for (const text of ["{", "3", "null", '[1, null, {"name": 1}, {"name": "a", "search": null}]'])
    expect(readViews(storeOf(text))).toEqual([]);
  expect(readViews(storeOf('[{"name":"a","search":{"q":"x","page":3}}]'))).toEqual([
    { name: "a", search: { q: "x" } },
  ]);
});

it("keeps no more views than fit", () => {
  let views = readViews(storeOf(null));
  for (let at = 0; at < 60; at++) views = withView(views, { name: `v${at}`, search: {} });
  expect(views).toHaveLength(50);
  expect(views[0]?.name).toBe("v10");
});
