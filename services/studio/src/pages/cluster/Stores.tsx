import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { get } from "../../api/client";
import { natsQuery } from "../../api/queries";
import type { Api } from "../../api/types";
import { reachQuery } from "../../app/nats";
import { formatBytes, formatCount, formatDecimal } from "../../lib/format";
import { curl } from "../../lib/shell";
import { language, t } from "../../text";
import { CopyCommands } from "../../ui/Code";
import { Card, Facts } from "../../ui/Panel";
import { Badge } from "../../ui/State";
import { Shown } from "../../ui/States";
import { type Column, Table } from "../../ui/Table";
import { Time } from "../../ui/Time";

const number = (value: number) => formatCount(value, language);
const code = (text: string) => <code className="font-mono text-xs">{text}</code>;
const TROUBLE = <span className="sr-only">{t.cluster.trouble}</span>;
const trouble = (text: string | null | undefined) => text && <Badge tone="bad">{text}</Badge>;

/** A figure; a dash where nothing is known of what it is about. */
const known = (row: { trouble?: string | null }, figure: ReactNode) => (row.trouble ? "–" : figure);

function kindOf({ isBucket, isObjectStore }: Api["StreamShown"]): string {
  if (isObjectStore) return t.cluster.objectStore;
  return isBucket ? t.cluster.bucket : t.cluster.stream;
}

/** Size against limit: from four fifths on, it is a warning. */
function Size({ bytes, most }: { bytes: number; most: number | null | undefined }) {
  if (typeof most !== "number") return <>{formatBytes(bytes)}</>;
  const text = `${formatBytes(bytes)} / ${formatBytes(most)}`;
  return bytes > most * 0.8 ? <Badge tone="warn">{text}</Badge> : text;
}

const STREAMS: Column<Api["StreamShown"]>[] = [
  { key: "name", head: t.columns.name, cell: (row) => code(row.name) },
  { key: "kind", head: t.secrets.type, cell: kindOf },
  { key: "messages", head: t.cluster.messages, end: true, cell: (row) => known(row, number(row.messages)) },
  {
    key: "size",
    head: t.cluster.size,
    end: true,
    cell: (row) => known(row, <Size bytes={row.bytes} most={row.bytesMax} />),
  },
  {
    key: "replicas",
    head: t.cluster.replicas,
    end: true,
    cell: (row) =>
      row.replicasBehind.length > 0 ? (
        <Badge tone="bad">{t.cluster.behind(row.replicas, row.replicasBehind.join(", "))}</Badge>
      ) : (
        known(row, row.replicas)
      ),
  },
  { key: "trouble", head: TROUBLE, cell: (row) => trouble(row.trouble) },
];

const CONSUMERS: Column<Api["ConsumerShown"]>[] = [
  { key: "name", head: t.columns.name, cell: (row) => code(row.name) },
  { key: "stream", head: t.cluster.stream, cell: (row) => code(row.stream) },
  { key: "pending", head: t.cluster.lag, end: true, cell: (row) => known(row, number(row.pending)) },
  { key: "hand", head: t.cluster.inHand, end: true, cell: (row) => known(row, number(row.inHand)) },
  {
    key: "again",
    head: t.cluster.redelivered,
    end: true,
    cell: (row) =>
      known(
        row,
        row.redelivered > 0 ? <Badge tone="warn">{number(row.redelivered)}</Badge> : row.redelivered,
      ),
  },
  { key: "pulls", head: t.cluster.pulls, end: true, cell: (row) => known(row, number(row.waitingPulls)) },
  { key: "trouble", head: TROUBLE, cell: (row) => trouble(row.trouble) },
];

/** Streams, buckets and consumers, each against its limit. */
export function Nats() {
  const query = useQuery(natsQuery);
  const isLost = useQuery(reachQuery).data === "lost";
  return (
    <Shown query={query}>
      {(nats) => (
        <div className="space-y-4">
          <Card title={`${nats.server} · ${nats.version}${nats.cluster ? ` · ${nats.cluster}` : ""}`}>
            {isLost && <p className="px-4 py-2 text-sm text-faulted">{t.cluster.streamsUnknown}</p>}
            <Table
              label={t.cluster.streams}
              columns={STREAMS}
              rows={nats.streams}
              rowKey={(row) => row.name}
            />
          </Card>
          <Card title={t.cluster.consumers}>
            <Table
              label={t.cluster.consumers}
              columns={CONSUMERS}
              rows={nats.consumers}
              rowKey={(row) => `${row.stream} ${row.name}`}
            />
            <div className="px-4 py-2">
              <CopyCommands
                commands={{
                  staunch: "staunch doctor",
                  nats: ["nats stream report", "nats kv ls", "nats object ls"],
                  curl: curl("/cluster/streams"),
                }}
              />
            </div>
          </Card>
        </div>
      )}
    </Shown>
  );
}

/** The database as the node that answers uses it. */
export function Database() {
  const query = useQuery({
    queryKey: ["cluster", "database"],
    queryFn: ({ signal }) => get<Api["DatabaseFigures"]>("/cluster/database", undefined, signal),
    refetchInterval: 5000,
  });
  return (
    <Shown query={query}>
      {(held) => (
        <Card title={held.backend}>
          <div className="p-4">
            <Facts
              facts={[
                [t.cluster.answersHere, held.node],
                [t.cluster.databaseTime, <Time key="time" at={held.time} exact />],
                [t.cluster.latency, `${formatDecimal(held.latencyMs, 1)} ms`],
                [t.cluster.queued, number(held.queued)],
              ]}
            />
          </div>
          <Table
            label={t.cluster.pool}
            rows={held.pools}
            rowKey={(row) => row.name}
            columns={[
              { key: "name", head: t.cluster.pool, cell: (row) => row.name },
              { key: "open", head: t.cluster.open, end: true, cell: (row) => number(row.open) },
              { key: "idle", head: t.cluster.idle, end: true, cell: (row) => number(row.idle) },
              { key: "max", head: t.cluster.max, end: true, cell: (row) => number(row.max) },
            ]}
          />
          <div className="px-4 py-2">
            <CopyCommands commands={{ staunch: "staunch doctor", curl: curl("/cluster/database") }} />
          </div>
        </Card>
      )}
    </Shown>
  );
}
