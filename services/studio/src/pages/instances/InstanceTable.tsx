import { Link } from "@tanstack/react-router";
import type { Api } from "../../api/types";
import type { InstanceFilter } from "../../lib/filters";
import { t } from "../../text";
import { InstanceLink } from "../../ui/InstanceLink";
import { Badge, StateBadge, Version } from "../../ui/State";
import type { Column } from "../../ui/Table";
import { Duration, Time } from "../../ui/Time";
import { useDefinitionNames } from "./names";

type Row = Api["InstanceSummary"];
type Order = InstanceFilter["order"];

type Ordered = {
  filter?: InstanceFilter;
  onOrder?: (order: Order) => void;
};

function OrderHead({ word, order, filter, onOrder }: { word: string; order: Order } & Ordered) {
  if (!filter || !onOrder) return word;
  const on = filter.order === order;
  return (
    <button
      type="button"
      onClick={() => onOrder(order)}
      aria-label={t.orderBy(word)}
      className="max-w-full truncate align-bottom hover:text-ink"
    >
      {word}
      {on && <span aria-hidden="true">{filter.ascending ? " ↑" : " ↓"}</span>}
    </button>
  );
}

/** The columns of a list of instances. */
export function useInstanceColumns({ filter, onOrder }: Ordered): Column<Row>[] {
  const names = useDefinitionNames();
  const head = (word: string, order: Order) => (
    <OrderHead word={word} order={order} filter={filter} onOrder={onOrder} />
  );
  return [
    {
      key: "state",
      width: "w-36 max-sm:w-30",
      head: t.filters.state,
      cell: (row) => <StateBadge status={row.subStatus} />,
    },
    {
      key: "id",
      width: "w-30",
      head: t.columns.instance,
      cell: (row) => <InstanceLink id={row.id} />,
    },
    {
      key: "definition",
      width: "w-36 min-[1400px]:w-44 min-[1600px]:w-52",
      head: t.columns.definition,
      cell: (row) => (
        <span className="inline-flex max-w-full items-center gap-2">
          <Link
            to="/definitions/$id"
            params={{ id: row.definitionId }}
            className="link truncate"
            title={row.definitionId}
          >
            {names.get(row.definitionId) ?? row.definitionId}
          </Link>
          <span className="shrink-0 text-xs text-soft">
            <Version of={row.version} />
          </span>
        </span>
      ),
    },
    {
      key: "name",
      head: head(t.columns.name, "Name"),
      cell: (row) => row.name ?? <span className="text-soft">–</span>,
    },
    {
      key: "correlation",
      // Its head has room in every language; in a wide window it shares what is left with the name.
      width: "w-28 min-[1600px]:w-auto",
      head: t.columns.correlation,
      cell: (row) => row.correlationId ?? <span className="text-soft">–</span>,
    },
    {
      key: "created",
      // A date and a time in full, in wide fonts, too.
      width: "w-41",
      head: head(t.columns.started, "Created"),
      cell: (row) => <Time at={row.createdAt} />,
    },
    {
      key: "updated",
      width: "w-41",
      head: head(t.columns.updated, "UpdatedAt"),
      cell: (row) => <Time at={row.updatedAt} />,
    },
    {
      key: "took",
      // The longest one is "59 min 59 s", in wide fonts, too.
      width: "w-29",
      head: t.columns.took,
      end: true,
      cell: (row) => <Duration from={row.createdAt} to={row.finishedAt} />,
    },
    {
      key: "incidents",
      width: "w-22",
      head: t.columns.incidents,
      end: true,
      cell: (row) => (row.incidentCount > 0 ? <Badge tone="bad">{row.incidentCount}</Badge> : ""),
    },
  ];
}
