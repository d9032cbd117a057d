import { expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null });
const { bulkLines, deedLines, listLines } = await import("./lines");
vi.stubGlobal("document", { querySelector: () => null });

it("lists from a terminal what the page lists", () => {
  const { staunch, curl, nats } = listLines({ q: "it's", label: "a,b" });
  expect(staunch).toMatch(/^staunch workflow ls --search 'it'\\''s' --label a --label b( --server \S+)?$/);
  expect(curl).toContain("searchTerm=it");
  expect(curl).toContain("versionOptions=Latest");
  expect(nats).toBe("nats kv ls staunch_definitions");
});

it("has no line of staunch for versions that it does not list", () => {
  expect(listLines({ show: "Draft" }).staunch).toBeNull();
  expect(listLines({ show: "Draft" }).curl).toContain("versionOptions=Draft");
});

it("retracts and removes one definition, or several", () => {
  expect(deedLines("retract", "order").staunch).toContain("workflow retract order");
  expect(deedLines("retract", "order").nats).toBe(
    "nats req staunch.api.http.post.workflow-definitions.order.retract '{}'",
  );
  expect(deedLines("delete", "a b").curl).toContain("-X DELETE");
  expect(deedLines("delete", "a b").nats).toContain("staunch.api.http.delete.workflow-definitions.a=20b");
  const published = bulkLines("publish", ["a", "b"]);
  expect(published.staunch).toEqual([
    expect.stringContaining("workflow publish a"),
    expect.stringContaining("workflow publish b"),
  ]);
  expect(published.curl).toContain(`'{"definitionIds":["a","b"]}'`);
  expect(bulkLines("delete", ["a"]).staunch).toBeNull();
});
