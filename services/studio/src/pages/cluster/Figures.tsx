import { useQuery } from "@tanstack/react-query";
import { clusterCountsQuery, natsQuery } from "../../api/queries";
import { reachQuery } from "../../app/nats";
import { formatBytes, formatCount } from "../../lib/format";
import { metric, type Sample } from "../../lib/metrics";
import { curl, staunch } from "../../lib/shell";
import { language, t } from "../../text";
import { CopyCommands } from "../../ui/Code";
import { Card, Facts } from "../../ui/Panel";
import { Table } from "../../ui/Table";
import { natsShown } from "./streams";

const number = (value: number | undefined) => (value === undefined ? "–" : formatCount(value, language));

/** The queue, the timers and the streams of the cluster, and the database as the node that answers uses it. */
export function Figures({ samples }: { samples: readonly Sample[] }) {
  const of = (name: string, labels?: Record<string, string>) => metric(samples, `staunch_${name}`, labels);
  const counts = useQuery(clusterCountsQuery).data;
  const nats = useQuery(natsQuery).data;
  const isLost = useQuery(reachQuery).data === "lost";
  const { queue, streams } = natsShown(nats);
  const pools = samples.filter((one) => one.name === "staunch_database_connections_max");
  const apart = of("clock_apart_seconds");
  return (
    <div className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,20rem),1fr))] items-start gap-4">
      <Card title={t.cluster.queue}>
        <div className="p-4">
          <Facts
            facts={[
              [t.cluster.pending, number(queue?.pending)],
              [t.cluster.inHand, number(queue?.inHand)],
              [t.cluster.redelivered, number(queue?.redelivered)],
              [t.cluster.outbox, number(counts?.outbox)],
              [t.cluster.timers, number(counts?.timers)],
              [t.cluster.overdue, number(counts?.timersOverdue)],
              [t.cluster.schedules, number(counts?.schedules)],
            ]}
          />
        </div>
      </Card>
      <Card title={t.cluster.streams}>
        {isLost && <p className="px-4 py-2 text-sm text-faulted">{t.cluster.streamsUnknown}</p>}
        <Table
          label={t.cluster.streams}
          rows={streams}
          rowKey={(row) => row.name}
          columns={[
            {
              key: "name",
              head: t.columns.name,
              cell: (row) => <code className="font-mono text-xs">{row.name}</code>,
            },
            {
              key: "messages",
              head: t.cluster.messages,
              end: true,
              cell: (row) => number(row.trouble ? undefined : row.messages),
            },
            {
              key: "bytes",
              head: t.cluster.size,
              end: true,
              cell: (row) => (row.trouble ? "–" : formatBytes(row.bytes)),
            },
          ]}
        />
        <div className="px-4 py-2">
          <CopyCommands
            commands={{
              staunch: staunch("top"),
              nats: "nats stream report",
              curl: [curl("/cluster/counts"), curl("/cluster/streams")],
            }}
          />
        </div>
      </Card>
      <Card title={t.cluster.database}>
        <Table
          label={t.cluster.database}
          rows={pools}
          rowKey={(row) => row.labels.pool ?? ""}
          columns={[
            { key: "pool", head: t.cluster.pool, cell: (row) => row.labels.pool },
            {
              key: "used",
              head: t.cluster.used,
              end: true,
              cell: (row) =>
                number(of("database_connections", { pool: row.labels.pool ?? "", state: "used" })),
            },
            {
              key: "idle",
              head: t.cluster.idle,
              end: true,
              cell: (row) =>
                number(of("database_connections", { pool: row.labels.pool ?? "", state: "idle" })),
            },
            { key: "max", head: t.cluster.max, end: true, cell: (row) => number(row.value) },
          ]}
        />
        <div className="border-t border-line p-4">
          <Facts
            facts={[
              [t.cluster.conflicts, number(of("database_conflicts_total"))],
              [t.cluster.jobs, number(of("database_jobs_queued"))],
              apart !== undefined && [t.cluster.clock, `${Math.round(apart * 1000)} ms`],
            ]}
          />
        </div>
      </Card>
    </div>
  );
}
