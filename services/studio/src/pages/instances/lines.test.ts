import { expect, it } from "vitest";
import { fromAddress, type Search } from "../../lib/filters";
import { listLines } from "./lines";

const NOW = Date.parse("2026-11-25T12:00:00Z");
const linesOf = (search: Search) => listLines(fromAddress(search), NOW);

it("lists from a terminal what the filters select", () => {
  const { staunch, curl } = linesOf({ definition: "stock", state: "Faulted", q: "it's", values: "Qty>=5" });
  expect(staunch).toMatch(
    /^staunch instance ls --definition stock --status Faulted --search 'it'\\''s' --where 'Qty>=5'( --server \S+)?$/,
  );
  expect(curl).toContain('"definitionId":"stock"');
  expect(curl).toContain('"subStatuses":["Faulted"]');
  expect(curl).toContain('"pageSize":50');
});

it("has no line of staunch for a filter that has no option there", () => {
  for (const search of [{ state: "Faulted,Suspended" }, { incidents: "yes" }, { since: "2h" }, { name: "a" }])
    expect(linesOf(search).staunch).toBeNull();
  expect(linesOf({ since: "2h" }).curl).toContain('"timestamp":"2026-11-25T10:00:00.000Z"');
});
