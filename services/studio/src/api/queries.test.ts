import { QueryClient } from "@tanstack/react-query";
import { expect, it } from "vitest";
import { unfinishedQuery } from "./queries";

it("the instances by definition are counted again with the figures that an event makes old", async () => {
  const client = new QueryClient();
  const { queryKey } = unfinishedQuery;
  await client.fetchQuery({ queryKey, queryFn: () => ({ items: [] }) });
  await client.invalidateQueries({ queryKey: ["counts"] });
  expect(client.getQueryState(queryKey)?.isInvalidated).toBe(true);
});
