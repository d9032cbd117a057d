import { useQuery } from "@tanstack/react-query";
import { formatCount } from "../../lib/format";
import { language, t } from "../../text";
import { List } from "../../ui/List";
import type { Column } from "../../ui/Table";
import { Opener } from "./Pools";
import { labelOf, type Worker, workersQuery } from "./queries";

/** What one worker does: tasks that it takes, and activities whose requests it answers. */
function Work({ of: { tasks, requests }, onOpen }: { of: Worker; onOpen: (label: string) => void }) {
  const all = [
    ...tasks.map(({ taskType, version, concurrency }) => ({
      label: labelOf(taskType, version),
      note: concurrency == null ? "" : t.tasks.atATime(formatCount(concurrency, language)),
    })),
    ...requests.map(({ activityType, version }) => ({
      label: labelOf(activityType, version),
      note: t.tasks.answers,
    })),
  ];
  return (
    <ul className="space-y-1">
      {all.map(({ label, note }) => (
        <li key={label + note}>
          <Opener label={label} onOpen={onOpen} /> <span className="text-soft">{note}</span>
        </li>
      ))}
    </ul>
  );
}

/** The workers that say who they are, as services of NATS. */
export function Workers({ onOpen }: { onOpen: (label: string) => void }) {
  const query = useQuery(workersQuery);
  const columns: Column<Worker>[] = [
    { key: "worker", head: t.tasks.worker, cell: (row) => `${row.name} ${row.version}` },
    { key: "id", head: "Id", cell: (row) => <code className="font-mono text-xs">{row.id}</code> },
    { key: "host", head: t.tasks.host, cell: (row) => row.host ?? "–" },
    { key: "work", head: t.tasks.worksAt, cell: (row) => <Work of={row} onOpen={onOpen} /> },
  ];
  return (
    <List
      query={query}
      rows={({ items }) => items}
      empty={t.tasks.noWorkers}
      emptyHint={t.tasks.noWorkersHint}
      label={t.tasks.workers}
      columns={columns}
      rowKey={(row) => row.id}
    />
  );
}
