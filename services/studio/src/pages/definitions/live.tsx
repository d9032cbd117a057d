import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { get } from "../../api/client";
import type { Api } from "../../api/types";
import { t } from "../../text";
import type { Column } from "../../ui/Table";

type Row = Api["DefinitionSummary"];

/** The definitions of which the list does not say by itself whether a version of them is published. */
export const unsure = (rows: readonly Row[]): string[] => [
  ...new Set(rows.filter((row) => !row.isPublished).map((row) => row.definitionId)),
];

/** The published versions of definitions by their ids: those in the list, and those behind its drafts. */
export function liveOf(rows: readonly Row[], behind: readonly Row[]): ReadonlyMap<string, number> {
  const published = [...behind, ...rows].filter((row) => row.isPublished);
  return new Map(published.map((row) => [row.definitionId, row.version]));
}

/** A newer draft hides in a list the version that runs: it is asked for; undefined while it is. */
export function useLive(rows: readonly Row[] | undefined): ReadonlyMap<string, number> | undefined {
  const definitionIds = unsure(rows ?? []).sort();
  const asked = { definitionIds, versionOptions: "Published", page: 0, pageSize: definitionIds.length };
  const query = useQuery({
    queryKey: ["definitions", "live", definitionIds],
    queryFn: ({ signal }) => get<Api["DefinitionPage"]>("/workflow-definitions", asked, signal),
    enabled: definitionIds.length > 0,
  });
  if (!rows || (definitionIds.length > 0 && !query.data)) return undefined;
  return liveOf(rows, query.data?.items ?? []);
}

/** The version that runs, beside the latest one. */
export const liveColumn = (live: ReadonlyMap<string, number> | undefined): Column<Row> => ({
  key: "live",
  head: t.definitions.published,
  end: true,
  cell: (row) => {
    const version = live?.get(row.definitionId);
    if (version === undefined) return <span className="text-soft">{live ? "–" : ""}</span>;
    return (
      <Link
        to="/definitions/$id"
        params={{ id: row.definitionId }}
        search={{ version: String(version) }}
        className="link"
      >
        v{version}
      </Link>
    );
  },
});
