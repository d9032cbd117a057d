import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { get } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { useTypeWords } from "../../graph/words";
import { formatCount } from "../../lib/format";
import { visible } from "../../lib/visible";
import { language, t } from "../../text";
import type { Column } from "../../ui/Table";

type Row = Api["DefinitionSummary"];
type Starter = NonNullable<Row["starters"]>[number];

/** The states of instances that have not ended. */
const STATE = "Pending,Executing,Suspended";

/** What starts a definition, in words: the type, and when or where where the text says it. */
export const starterWord = ({ activityType, value }: Starter, words: (type: string) => string): string =>
  value ? `${words(activityType)} ${visible(value)}` : words(activityType);

function Starters({ of }: { of: Row }) {
  const words = useTypeWords();
  const all = (of.starters ?? []).map((one) => starterWord(one, words));
  if (all.length === 0) return <span className="text-soft">–</span>;
  return (
    <span title={all.join("\n")}>
      {all[0]}
      {all.length > 1 && <span className="text-soft"> +{all.length - 1}</span>}
    </span>
  );
}

export const starterColumn: Column<Row> = {
  key: "starters",
  head: t.definitions.starters,
  className: "!max-w-52 max-2xl:!max-w-28",
  cell: (row) => <Starters of={row} />,
};

type Unfinished = Pick<
  Api["UnfinishedInstances"],
  "items" | "isCutShort" | "faulted" | "isFaultedCutShort" | "countedMax"
>;

/** The number of instances that have not ended, as text; undefined where nobody knows. */
export function runningOf(id: string, counted: Unfinished | undefined): string | undefined {
  if (!counted) return undefined;
  const count = counted.items.find((one) => one.definitionId === id)?.count ?? 0;
  // Those that are left out of the count may be anybody's.
  return `${counted.isCutShort ? "≥ " : ""}${formatCount(count, language)}`;
}

/** The number of instances that faulted in the last 24 hours, as text. */
export function faultedOf(id: string, counted: Unfinished | undefined): string | undefined {
  if (!counted) return undefined;
  const count = counted.faulted.find((one) => one.definitionId === id)?.count ?? 0;
  return `${counted.isFaultedCutShort ? "≥ " : ""}${formatCount(count, language)}`;
}

/** What runs of the definitions of a page; the server counts them together. */
export function useRunning(rows: readonly Row[] | undefined): Unfinished | undefined {
  const definitionIds = [...new Set((rows ?? []).map((row) => row.definitionId))].sort();
  return useQuery({
    queryKey: ["unfinished", definitionIds],
    queryFn: ({ signal }) =>
      get<Api["UnfinishedInstances"]>("/workflow-instances/counts/by-definition", { definitionIds }, signal),
    enabled: definitionIds.length > 0 && can("read:workflow-instances"),
    refetchInterval: 10_000,
  }).data;
}

export const runningColumn = (counted: Unfinished | undefined): Column<Row> => ({
  key: "running",
  head: t.definitions.running,
  end: true,
  cell: (row) => (
    <Link to="/instances" search={{ definition: row.definitionId, state: STATE }} className="link">
      {runningOf(row.definitionId, counted) ?? t.rail.instances}
    </Link>
  ),
});

export const faultedColumn = (counted: Unfinished | undefined): Column<Row> => ({
  key: "faulted",
  head: t.definitions.faulted,
  end: true,
  cell: (row) => {
    const count = faultedOf(row.definitionId, counted);
    if (count === undefined) return <span className="text-soft">…</span>;
    if (count === "0") return "0";
    const search = { definition: row.definitionId, state: "Faulted", since: "24h", time: "UpdatedAt" };
    return (
      <Link to="/instances" search={search} className="link text-faulted">
        {count}
      </Link>
    );
  },
});
