import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { get } from "../../api/client";
import type { Api } from "../../api/types";
import { pageOf, useAddress } from "../../app/address";
import { curl } from "../../lib/shell";
import { t } from "../../text";
import { CopyCommands } from "../../ui/Code";
import { InstanceLink } from "../../ui/InstanceLink";
import { List } from "../../ui/List";
import { Card } from "../../ui/Panel";
import { Badge } from "../../ui/State";
import type { Column } from "../../ui/Table";
import { Time } from "../../ui/Time";

const PAGE_SIZE = 50;

const COLUMNS: Column<Api["HeldLease"]>[] = [
  {
    key: "instance",
    head: t.columns.instance,
    cell: (row) => <InstanceLink id={row.workflowInstanceId} />,
  },
  {
    key: "node",
    head: t.cluster.holder,
    cell: (row) => (
      <span className="inline-flex items-center gap-2">
        {row.node}
        {!row.isNodeLive && <Badge tone="bad">{t.cluster.gone}</Badge>}
      </span>
    ),
  },
  { key: "since", head: t.cluster.heldSince, cell: (row) => <Time at={row.since} /> },
  {
    key: "wanted",
    head: t.cluster.wantedBy,
    cell: (row) => (row.wantedBy.length > 0 ? <Badge tone="warn">{row.wantedBy.join(", ")}</Badge> : "–"),
  },
];

/** Which node works on which instance, and who waits for it. */
export function Leases() {
  const [search] = useAddress();
  const page = pageOf(search);
  const query = useQuery({
    queryKey: ["leases", page],
    queryFn: ({ signal }) => get<Api["HeldLeases"]>("/cluster/leases", { page, pageSize: PAGE_SIZE }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: 3000,
  });
  const held = query.data;
  return (
    <Card
      title={t.cluster.leases}
      actions={
        held && (
          <span className="flex gap-2">
            {held.contended > 0 && <Badge tone="warn">{t.cluster.contended(held.contended)}</Badge>}
            {held.stale > 0 && <Badge tone="bad">{t.cluster.stale(held.stale)}</Badge>}
          </span>
        )
      }
    >
      <List
        query={query}
        rows={({ items }) => items}
        paged={{ total: ({ totalCount }) => totalCount, size: PAGE_SIZE }}
        empty={t.cluster.noLeases}
        emptyHint={t.cluster.noLeasesHint}
        label={t.cluster.leases}
        columns={COLUMNS}
        rowKey={(row) => row.workflowInstanceId}
      />
      <div className="px-4 py-2">
        <CopyCommands
          commands={{
            staunch: "staunch lease ls",
            nats: "nats kv ls staunch_leases",
            curl: curl("/cluster/leases"),
          }}
        />
      </div>
    </Card>
  );
}
