import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { Problem } from "../../api/problem";
import { isLost } from "./lost";

const missing = new Problem(
  404,
  "Not found",
  "There is no workflow instance i-1.",
  "GET /workflow-instances/i-1",
);

test("an instance that was never there is not found, and is not lost", () => {
  expect(isLost({ data: undefined, error: missing })).toBe(false);
});

test("one that somebody else deletes while it is looked at is lost, and not shown as it was", async () => {
  let isThere = true;
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const observer = new QueryObserver(client, {
    queryKey: ["instance", "i-1"],
    queryFn: async () => {
      if (!isThere) throw missing;
      return { id: "i-1", subStatus: "Faulted" };
    },
  });
  const leave = observer.subscribe(() => undefined);
  expect(isLost(await observer.refetch())).toBe(false);
  isThere = false;
  await client.invalidateQueries({ queryKey: ["instance", "i-1"] });
  expect(isLost(observer.getCurrentResult())).toBe(true);
  leave();
  client.clear();
});

test("a server that does not answer has lost nothing", () => {
  expect(isLost({ data: {}, error: new Problem(503, "Unavailable", "", "GET /") })).toBe(false);
  expect(isLost({ data: {}, error: null })).toBe(false);
});
