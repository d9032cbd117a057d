import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { get } from "../../api/client";
import type { Api } from "../../api/types";
import { useAddress } from "../../app/address";
import { formatCount, formatDecimal } from "../../lib/format";
import { curl, staunch } from "../../lib/shell";
import { language, t } from "../../text";
import { CopyCommands } from "../../ui/Code";
import { Select } from "../../ui/Field";
import { Card } from "../../ui/Panel";
import { Shown } from "../../ui/States";
import { type Column, Table } from "../../ui/Table";

const SHOWN_MAX = 20;
const ORDERS = ["Total", "Mean", "Max", "Count"] as const;
type Row = Api["StatementShown"];

const ms = (time: number) => `${formatDecimal(time, 1)} ms`;

const COLUMNS: Column<Row>[] = [
  {
    key: "text",
    head: t.statements.text,
    className: "!max-w-xl",
    cell: (row) => (
      <code className="block truncate font-mono text-xs" title={row.text}>
        {row.text}
      </code>
    ),
  },
  { key: "count", head: t.statements.by.Count, end: true, cell: (row) => formatCount(row.count, language) },
  { key: "total", head: t.statements.by.Total, end: true, cell: (row) => ms(row.totalMs) },
  { key: "mean", head: t.statements.by.Mean, end: true, cell: (row) => ms(row.meanMs) },
  { key: "max", head: t.statements.by.Max, end: true, cell: (row) => ms(row.maxMs) },
  {
    key: "rows",
    head: t.statements.rows,
    end: true,
    cell: (row) => (typeof row.rows === "number" ? formatCount(row.rows, language) : "–"),
  },
];

/** The statements that took the node that answers the most time. */
export function Statements() {
  const [search, change] = useAddress();
  const orderBy = ORDERS.find((one) => one === search.by) ?? "Total";
  const query = useQuery({
    queryKey: ["cluster", "statements", orderBy],
    queryFn: ({ signal }) =>
      get<Api["Statements"]>("/cluster/statements", { orderBy, pageSize: SHOWN_MAX }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  });
  return (
    <Card
      title={t.statements.title}
      actions={
        <Select
          className="w-40"
          label={t.statements.order}
          hideLabel
          value={orderBy}
          options={ORDERS.map((one) => [one, t.statements.by[one]] as const)}
          onChange={(event) =>
            change({ by: event.target.value === "Total" ? undefined : event.target.value })
          }
        />
      }
    >
      <Shown query={query}>
        {({ items }) => (
          <Table label={t.statements.title} columns={COLUMNS} rows={items} rowKey={(row) => row.text} />
        )}
      </Shown>
      <div className="px-4 py-2">
        <CopyCommands
          commands={{
            staunch: staunch(`statement ls --by ${orderBy.toLowerCase()}`),
            curl: curl(`/cluster/statements?orderBy=${orderBy}`),
          }}
        />
      </div>
    </Card>
  );
}
