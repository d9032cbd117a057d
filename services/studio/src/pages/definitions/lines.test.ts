import { expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null });
const { listLines } = await import("./lines");
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
