import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { get } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { pageOf, useAddress } from "../../app/address";
import { formatCount } from "../../lib/format";
import { curl, staunch } from "../../lib/shell";
import { language, t } from "../../text";
import { CopyCommands } from "../../ui/Code";
import { List } from "../../ui/List";
import { Card, Facts, SidePanel } from "../../ui/Panel";
import { Badge } from "../../ui/State";
import type { Column } from "../../ui/Table";
import { Time } from "../../ui/Time";
import { useDefinitionNames } from "../instances/names";
import { type Listener, linesOf, nameOf, PATH, toneOf } from "./listening";

const PAGE_SIZE = 50;

/** A figure, or a dash where there is no consumer. */
const figure = (value: number | null | undefined) =>
  typeof value === "number" ? formatCount(value, language) : "–";
const code = (text: string) => <code className="font-mono text-xs break-all">{text}</code>;

function State({ of }: { of: Listener }) {
  return <Badge tone={toneOf(of.state)}>{t.listeners.states[of.state] ?? of.state}</Badge>;
}

function Definition({ id }: { id: string }) {
  const names = useDefinitionNames();
  if (!can("read:workflow-definitions")) return <>{id}</>;
  return (
    <Link to="/definitions/$id" params={{ id }} className="link" title={id}>
      {names.get(id) ?? id}
    </Link>
  );
}

/** The definitions that want a source. */
function Definitions({ of, isLong }: { of: Listener; isLong?: boolean }) {
  const rest = of.definitionCount - of.definitions.length;
  return (
    <ul className={isLong ? "space-y-1" : "flex flex-wrap gap-x-3"}>
      {of.definitions.map((one) => (
        <li key={one.definitionId}>
          <Definition id={one.definitionId} />
          {isLong && (
            <span className="text-soft">
              {one.starts && ` · ${t.listeners.starts}`}
              {one.waiting > 0 && ` · ${t.listeners.waits(one.waiting)}`}
              {!one.isAllowed && ` · ${t.listeners.refused}`}
            </span>
          )}
        </li>
      ))}
      {rest > 0 && <li className="text-soft">{t.listeners.more(rest)}</li>}
    </ul>
  );
}

function Detail({ listener, onClose }: { listener: Listener; onClose: () => void }) {
  return (
    <SidePanel title={t.listeners.one(nameOf(listener))} onClose={onClose}>
      <Facts
        facts={[
          [t.listeners.state, <State key="state" of={listener} />],
          listener.reason ? [t.messages.reason, listener.reason] : undefined,
          [t.listeners.kind, t.listeners.kinds[listener.kind] ?? listener.kind],
          [t.listeners.filter, <span key="filter">{code(listener.filter)}</span>],
          listener.consumer
            ? [t.listeners.consumer, <span key="consumer">{code(listener.consumer)}</span>]
            : undefined,
          listener.isKept ? [t.listeners.begins, listener.begins] : undefined,
          [t.listeners.lag, listener.isKept ? figure(listener.lag) : t.listeners.atMostOnce],
          listener.isKept && [t.listeners.inHand, figure(listener.inHand)],
          listener.isKept && [t.listeners.redelivered, figure(listener.redelivered)],
          listener.isKept && [t.listeners.delivered, figure(listener.delivered)],
          listener.isKept && [t.listeners.deliveredAt, <Time key="at" at={listener.deliveredAt} />],
          listener.isKept && [t.listeners.createdAt, <Time key="made" at={listener.createdAt} />],
          listener.isInOrder && [t.listeners.order, t.listeners.inOrder],
          listener.hasPredicate && [t.listeners.predicate, t.listeners.predicateHint],
          [t.listeners.wantedBy, <Definitions key="definitions" of={listener} isLong />],
        ]}
      />
      <CopyCommands commands={linesOf(listener)} />
    </SidePanel>
  );
}

/** The sources that workflows listen to: what wants each, and how far behind it is. */
export function Listeners() {
  const [search, change] = useAddress();
  const page = pageOf(search);
  const query = useQuery({
    queryKey: ["listeners", page],
    queryFn: ({ signal }) => get<Api["Listeners"]>(PATH, { page, pageSize: PAGE_SIZE }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: 5000,
  });
  const open = query.data?.items.find((one) => one.hash === search.listener);
  const columns: Column<Listener>[] = [
    {
      key: "name",
      head: t.listeners.source,
      cell: (row) => (
        <button
          type="button"
          className="link text-left text-accent"
          onClick={() => change({ listener: row.hash })}
        >
          {nameOf(row)}
        </button>
      ),
    },
    { key: "kind", head: t.listeners.kind, cell: (row) => t.listeners.kinds[row.kind] ?? row.kind },
    { key: "filter", head: t.listeners.filter, cell: (row) => code(row.filter) },
    { key: "state", head: t.listeners.state, cell: (row) => <State of={row} /> },
    {
      key: "lag",
      head: t.listeners.lag,
      end: true,
      cell: (row) => (row.lag ? <Badge tone="warn">{figure(row.lag)}</Badge> : figure(row.lag)),
    },
    { key: "hand", head: t.listeners.inHand, end: true, cell: (row) => figure(row.inHand) },
    { key: "again", head: t.listeners.redelivered, end: true, cell: (row) => figure(row.redelivered) },
    { key: "waiting", head: t.listeners.waiting, end: true, cell: (row) => figure(row.waiting) },
    { key: "wanted", head: t.listeners.wantedBy, cell: (row) => <Definitions of={row} /> },
  ];
  return (
    <>
      <Card title={t.listeners.title}>
        <List
          query={query}
          rows={({ items }) => items}
          paged={{ total: ({ totalCount }) => totalCount, size: PAGE_SIZE }}
          empty={t.listeners.nothing}
          emptyHint={t.listeners.nothingHint}
          bar={
            query.data?.isCutShort && (
              <p className="border-b border-line px-3 py-2 text-sm text-soft">{t.listeners.cutShort}</p>
            )
          }
          label={t.listeners.title}
          columns={columns}
          rowKey={(row) => row.hash}
          current={search.listener}
        />
        <div className="px-4 py-2">
          <CopyCommands
            commands={{ staunch: staunch("listener ls"), nats: "nats stream report", curl: curl(PATH) }}
          />
        </div>
      </Card>
      {open && <Detail listener={open} onClose={() => change({ listener: undefined })} />}
    </>
  );
}
