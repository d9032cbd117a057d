import { expect, it, vi } from "vitest";
import { fromAddress, type Search, toPlanFilter } from "../../lib/filters";

vi.stubGlobal("sessionStorage", { getItem: () => null });
const { allLines, listLines, manyLines } = await import("./lines");

const NOW = Date.parse("2026-11-25T12:00:00Z");
const linesOf = (search: Search) => listLines(fromAddress(search), NOW);

it("lists from a terminal what the filters select", () => {
  const { staunch, nats, curl } = linesOf({
    definition: "stock",
    state: "Faulted",
    q: "it's",
    values: "Qty>=5",
  });
  expect(staunch).toMatch(
    /^staunch instance ls --definition stock --status Faulted --search 'it'\\''s' --where 'Qty>=5'( --server \S+)?$/,
  );
  expect(curl).toContain('"definitionId":"stock"');
  expect(curl).toContain('"subStatuses":["Faulted"]');
  expect(curl).toContain('"pageSize":50');
  expect(nats).toContain("nats req staunch.api.http.post.workflow-instances.query '{");
  expect(nats).toContain('"definitionId":"stock"');
});

it("has no line of staunch for a filter that has no option there", () => {
  for (const search of [{ state: "Faulted,Suspended" }, { incidents: "yes" }, { name: "a" }])
    expect(linesOf(search).staunch).toBeNull();
  expect(linesOf({ since: "2h" }).curl).toContain('"timestamp":"2026-11-25T10:00:00.000Z"');
});

it("has the times of a filter, by the time that it compares", () => {
  expect(linesOf({ since: "2h" }).staunch).toContain("instance ls --since 2026-11-25T10:00:00.000Z");
  expect(linesOf({ since: "2h" }).staunch).not.toContain("--by");
  const finished = linesOf({ until: "2026-11-24T00:00Z", time: "FinishedAt" }).staunch;
  expect(finished).toContain("instance ls --until 2026-11-24T00:00:00.000Z --by finished");
  expect(linesOf({ time: "FinishedAt" }).staunch).not.toContain("--by");
});

it("changes from a terminal those that are chosen", () => {
  expect(manyLines("cancel", ["a"]).staunch).toMatch(/^staunch instance cancel a( --server \S+)?$/);
  const two = '{"workflowInstanceIds":["a","b"]}';
  expect(manyLines("cancel", ["a", "b"]).staunch).toContain(
    `instance plan submit '[{"type":"Cancel"}]' --filter '${two}'`,
  );
  expect(manyLines("cancel", ["a", "b"]).curl).toContain(`'{"ids":["a","b"]}'`);
  expect(manyLines("delete", ["a", "b"]).staunch).toContain(`instance rm --filter '${two}'`);
  expect(manyLines("retry", ["a", "b"], "charge").staunch).toContain(
    `'[{"type":"Retry","activityIds":["charge"]}]'`,
  );
  expect(manyLines("retry", ["a", "b"]).nats).toContain(
    `nats req staunch.api.http.post.alterations.workflows.retry '${two}'`,
  );
});

it("changes from a terminal all that match, with the filter of the dialog", () => {
  const filter = toPlanFilter(fromAddress({ definition: "stock" }), NOW) ?? {};
  const shown = JSON.stringify(filter);
  expect(allLines("deleteAll", filter).staunch).toContain(`instance rm --filter '${shown}'`);
  expect(allLines("retryAll", filter).staunch).toContain(
    `plan submit '[{"type":"Retry"}]' --filter '${shown}'`,
  );
  expect(allLines("cancelAll", filter).curl).toContain(
    `'{"filter":${shown},"alterations":[{"type":"Cancel"}]}'`,
  );
});
