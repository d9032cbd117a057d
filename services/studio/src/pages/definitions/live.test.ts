import { expect, it } from "vitest";
import type { Api } from "../../api/types";
import { liveOf, unsure } from "./live";

const row = (definitionId: string, version: number, isPublished: boolean): Api["DefinitionSummary"] => ({
  id: `${definitionId}-${version}`,
  definitionId,
  version,
  isPublished,
  isLatest: true,
  isReadonly: false,
  isSystem: false,
  isMaterializerAvailable: true,
  materializerName: "Json",
  links: [],
});

it("the version that runs is shown where a newer draft is the latest", () => {
  const rows = [row("live", 3, true), row("changed", 2, false), row("new", 1, false)];
  expect(unsure(rows)).toEqual(["changed", "new"]);
  const live = liveOf(rows, [row("changed", 1, true)]);
  expect([...live]).toEqual([
    ["changed", 1],
    ["live", 3],
  ]);
});
