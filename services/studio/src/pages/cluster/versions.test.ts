import { expect, it } from "vitest";
import { severalVersions } from "./versions";

it("nodes of one version are nothing to speak of", () => {
  expect(severalVersions([])).toEqual([]);
  expect(severalVersions([{ version: "0.1.0" }, { version: "0.1.0" }])).toEqual([]);
  expect(severalVersions([{}, { version: null }])).toEqual([]);
});

it("versions are counted, the oldest first; a node that says none has one of its own", () => {
  const nodes = [{ version: "0.10.0" }, { version: "0.9.1" }, { version: "0.10.0" }, {}];
  expect(severalVersions(nodes)).toEqual([
    { version: undefined, count: 1 },
    { version: "0.9.1", count: 1 },
    { version: "0.10.0", count: 2 },
  ]);
});
