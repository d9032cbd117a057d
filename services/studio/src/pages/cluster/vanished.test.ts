import { expect, it } from "vitest";
import type { Api } from "../../api/types";
import { followed, GONE_MAX, NONE } from "./vanished";

const node = (name: string): Api["NodeSeen"] => ({
  node: name,
  roles: ["executor"],
  startedAt: "2026-01-01T00:00:00Z",
});

it("a node that is missing in a later answer is gone since the answer before, until it comes back", () => {
  const both = followed(NONE, [node("a"), node("b")], 1000);
  expect(both.gone).toEqual([]);
  const one = followed(both, [node("a")], 2000);
  expect(one.gone).toEqual([{ node: "b", roles: ["executor"], lastSeen: 1000 }]);
  const later = followed(one, [node("a")], 3000);
  expect(later.gone).toEqual(one.gone);
  // The same answer, seen twice, says nothing new.
  expect(followed(later, [], 3000)).toBe(later);
  expect(followed(later, [node("a"), node("b")], 4000).gone).toEqual([]);
});

it("only the latest are kept", () => {
  const names = Array.from({ length: GONE_MAX + 5 }, (_, at) => `node-${at}`);
  let seen = followed(NONE, names.map(node), 1);
  for (const [at] of names.entries()) seen = followed(seen, names.slice(at + 1).map(node), at + 2);
  expect(seen.gone.length).toBe(GONE_MAX);
  expect(seen.gone[0]?.node).toBe(names.at(-1));
});
