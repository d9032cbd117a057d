import { expect, it } from "vitest";
import { de } from "../../text/de";
import { en } from "../../text/en";
import { severalVersions } from "./versions";

it("nodes of one version are nothing to speak of", () => {
  expect(severalVersions([])).toEqual([]);
  const same = { version: "0.1.0" };
  expect(
    severalVersions([
      { node: "a", ...same },
      { node: "b", ...same },
    ]),
  ).toEqual([]);
  expect(severalVersions([{ node: "a" }, { node: "b", version: null }])).toEqual([]);
});

it("versions have the names of their nodes, the newest first; the one that says no number is the last", () => {
  const nodes = [
    { node: "d" },
    { node: "c", version: "0.9.1" },
    { node: "b", version: "0.10.0" },
    { node: "a", version: "0.10.0" },
  ];
  expect(severalVersions(nodes)).toEqual([
    { version: "0.10.0", nodes: ["a", "b"] },
    { version: "0.9.1", nodes: ["c"] },
    { version: undefined, nodes: ["d"] },
  ]);
  expect(en.cluster.severalVersions(severalVersions(nodes))).toBe(
    "The nodes run different versions: 0.10.0 (a, b), 0.9.1 (c), an earlier one that does not say its number (d).",
  );
  expect(de.cluster.severalVersions(severalVersions(nodes))).toContain("ihre Nummer nicht nennt (d).");
});
