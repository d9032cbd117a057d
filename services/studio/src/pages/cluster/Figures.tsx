import { formatBytes, formatCount } from "../../lib/format";
import { metric, type Sample } from "../../lib/metrics";
import { staunch } from "../../lib/shell";
import { language, t } from "../../text";
import { CopyCommands } from "../../ui/Code";
import { Card, Facts } from "../../ui/Panel";
import { Table } from "../../ui/Table";

const number = (value: number | undefined) => (value === undefined ? "–" : formatCount(value, language));

/** What the server measures: its queue, its timers, its streams, its database. */
export function Figures({ samples }: { samples: readonly Sample[] }) {
  const of = (name: string, labels?: Record<string, string>) => metric(samples, `staunch_${name}`, labels);
  const streams = samples.filter((one) => one.name === "staunch_cluster_stream_messages");
  const pools = samples.filter((one) => one.name === "staunch_database_connections_max");
  const apart = of("clock_apart_seconds");
  return (
    <div className="grid items-start gap-4 md:grid-cols-2 xl:grid-cols-3">
      <Card title={t.cluster.queue}>
        <div className="p-4">
          <Facts
            facts={[
              [t.cluster.pending, number(of("cluster_consumer", { commands: "pending" }))],
              [t.cluster.inHand, number(of("cluster_consumer", { commands: "in hand" }))],
              [t.cluster.redelivered, number(of("cluster_consumer", { commands: "redelivered" }))],
              [t.cluster.outbox, number(of("cluster_outbox"))],
              [t.cluster.timers, number(of("cluster_timers_pending"))],
              [t.cluster.overdue, number(of("cluster_timers_overdue"))],
              [t.cluster.schedules, number(of("cluster_schedules"))],
            ]}
          />
        </div>
      </Card>
      <Card title={t.cluster.streams}>
        <Table
          label={t.cluster.streams}
          rows={streams}
          rowKey={(row) => row.labels.stream ?? ""}
          columns={[
            {
              key: "name",
              head: t.columns.name,
              cell: (row) => <code className="font-mono text-xs">{row.labels.stream}</code>,
            },
            { key: "messages", head: t.cluster.messages, end: true, cell: (row) => number(row.value) },
            {
              key: "bytes",
              head: t.cluster.size,
              end: true,
              cell: (row) =>
                formatBytes(of("cluster_stream_bytes", { stream: row.labels.stream ?? "" }) ?? 0),
            },
          ]}
        />
        <div className="px-4 py-2">
          <CopyCommands commands={{ staunch: staunch("top"), nats: "nats stream report" }} />
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
