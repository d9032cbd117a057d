import { useQuery } from "@tanstack/react-query";
import type { Api } from "../../api/types";
import { usePage } from "../../app/address";
import { formatCount } from "../../lib/format";
import { language, t } from "../../text";
import { InstanceLink } from "../../ui/InstanceLink";
import { List } from "../../ui/List";
import type { Column } from "../../ui/Table";
import { Time } from "../../ui/Time";
import { useDefinitionNames } from "../instances/names";
import { OPEN_SIZE, openQuery } from "./queries";

type Open = Api["OpenTask"];

function attemptOf({ attempt, isPaused }: Open): string {
  if (attempt == null) return "–";
  return isPaused ? t.tasks.paused(attempt) : formatCount(attempt, language);
}

/** Who waits for the tasks of one version of a type; each line leads to its instance. */
export function OpenTasks({ type, version }: { type: string; version: number }) {
  const [page] = usePage();
  const query = useQuery(openQuery(type, version, page));
  const names = useDefinitionNames();
  const rows = query.data?.items ?? [];
  // A column without anything in it takes room from the others.
  const has = (member: "attempt" | "deadline") => rows.some((row) => row[member] != null);
  const all: (Column<Open> | false)[] = [
    {
      key: "instance",
      head: t.columns.instance,
      cell: (row) => <InstanceLink id={row.workflowInstanceId} />,
    },
    {
      key: "definition",
      head: t.columns.definition,
      cell: (row) => names.get(row.definitionId) ?? row.definitionId,
    },
    { key: "since", head: t.tasks.openSince, cell: (row) => <Time at={row.since} /> },
    has("attempt") && { key: "attempt", head: t.tasks.attempt, end: true, cell: attemptOf },
    has("deadline") && {
      key: "deadline",
      head: t.tasks.deadline,
      cell: (row) => <Time at={row.deadline} />,
    },
  ];
  const columns = all.filter((column) => column !== false);
  return (
    <section>
      <h3 className="mb-1 text-sm font-medium">{t.tasks.open}</h3>
      <List
        query={query}
        rows={({ items }) => items}
        paged={{ total: ({ totalCount }) => totalCount, size: OPEN_SIZE }}
        empty={t.tasks.openNone}
        label={t.tasks.open}
        columns={columns}
        rowKey={(row) => row.bookmarkId}
      />
      {query.data?.isCutShort && (
        <p className="text-xs text-soft">{t.tasks.openCut(formatCount(query.data.tasksRead, language))}</p>
      )}
    </section>
  );
}
