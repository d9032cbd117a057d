import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useAddress } from "../../app/address";
import { onHappenings } from "../../app/live";
import {
  fromAddress,
  type InstanceFilter,
  ignoredIn,
  isSpanEmpty,
  type Search,
  toAddress,
} from "../../lib/filters";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { CopyCommands } from "../../ui/Code";
import { LongTable, ROWS_MAX } from "../../ui/LongTable";
import { Page } from "../../ui/Page";
import { Card } from "../../ui/Panel";
import { Empty, FailedQuery, Loading } from "../../ui/States";
import { BulkBar } from "./BulkBar";
import { Filters } from "./Filters";
import { useInstanceColumns } from "./InstanceTable";
import { listLines } from "./lines";
import { PlanPanel } from "./PlanPanel";
import { useInstanceRows } from "./rows";
import { StateCounts } from "./StateCounts";
import { PART, TOTAL_MAX } from "./trail";
import { Views } from "./Views";

/** Counts instances that began since the list was read: they wait until one asks for them. */
function useNews(readAt: number, definition?: string) {
  const [news, setNews] = useState({ readAt, count: 0 });
  useEffect(
    () =>
      onHappenings((events) => {
        const { length } = events.filter(
          ({ name, at, definitionId }) =>
            name === "started" && Date.parse(at) >= readAt && (!definition || definitionId === definition),
        );
        if (length === 0) return;
        setNews((old) => ({ readAt, count: length + (old.readAt === readAt ? old.count : 0) }));
      }),
    [readAt, definition],
  );
  return news.readAt === readAt ? news.count : 0;
}

/** Names what the address has and the list does not follow, and takes it out of the address. */
function Ignored({ ignored, onDrop }: { ignored: Search; onDrop: (without: Search) => void }) {
  const names = Object.keys(ignored);
  if (names.length === 0) return null;
  const drop = () => onDrop(Object.fromEntries(names.map((name) => [name, undefined])));
  return (
    <div
      role="status"
      className="flex flex-col items-start gap-x-3 gap-y-1 rounded-md border border-waiting bg-raised px-3 py-1 text-sm sm:flex-row sm:items-center"
    >
      <span className="min-w-0 max-w-full break-words sm:flex-1">
        {t.filters.ignored(names.map((name) => `${name}=${ignored[name]}`).join(", "))}
        <br />
        {t.filters.ignoredAll}
      </span>
      <Button tone="quiet" onClick={drop}>
        {t.filters.drop}
      </Button>
    </div>
  );
}

type Rows = ReturnType<typeof useInstanceRows>;

function LongList({
  filter,
  rows,
  selected,
  onSelect,
  onOrder,
  onRest,
}: {
  filter: InstanceFilter;
  rows: Rows;
  selected: ReadonlySet<string>;
  onSelect: (keys: ReadonlySet<string>) => void;
  onOrder: (order: InstanceFilter["order"]) => void;
  onRest: (first: number) => void;
}) {
  const columns = useInstanceColumns({ filter, onOrder });
  return (
    <LongTable
      label={t.rail.instances}
      columns={columns}
      rowKey={(row) => row.id}
      count={rows.count}
      isMore={rows.head?.data?.totalCount === TOTAL_MAX}
      rowAt={rows.rowAt}
      loaded={rows.loaded}
      first={filter.page * PART}
      onRange={rows.onRange}
      onRest={onRest}
      onStretch={onRest}
      selected={selected}
      onSelect={onSelect}
    />
  );
}

export function InstancesPage() {
  const [search, change] = useAddress();
  const client = useQueryClient();
  const filter = useMemo(() => fromAddress(search), [search]);
  const ignored = ignoredIn(search, Date.now());
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const rows = useInstanceRows(filter);
  const news = useNews(rows.head?.dataUpdatedAt ?? 0, filter.definition);
  const key = JSON.stringify(toAddress({ ...filter, page: 0 }));

  const set = (part: Partial<InstanceFilter>) => {
    setSelected(new Set());
    change(toAddress({ ...filter, page: 0, ...part }));
  };
  const reload = () => {
    void rows.reload().catch(() => undefined);
    void client.invalidateQueries({ queryKey: ["counts"] });
  };
  const place = useRef(rows.place);
  place.current = rows.place;
  const rest = useCallback((first: number) => change(place.current(Math.floor(first / PART))), [change]);

  return (
    <Page
      title={t.rail.instances}
      actions={
        <>
          {news > 0 && rows.head?.data && !rows.failed && (
            <Button tone="main" onClick={reload}>
              {t.instances.news(news)}
            </Button>
          )}
          <Views />
          <Button icon="refresh" onClick={reload}>
            {t.refresh}
          </Button>
        </>
      }
    >
      <Ignored ignored={ignored} onDrop={change} />
      <StateCounts filter={filter} onChange={(states) => set({ states })} />
      <Filters filter={filter} onChange={set} />
      {isSpanEmpty(filter, Date.now()) && (
        <p role="status" className="rounded-md border border-waiting bg-raised px-3 py-1.5 text-sm">
          {t.filters.emptySpan(filter.since ?? "", filter.until ?? "")}
        </p>
      )}
      <Card>
        {rows.failed && <FailedQuery query={rows.failed} />}
        {rows.head?.isPending && !rows.failed && <Loading rows={12} />}
        {rows.head?.data?.totalCount === 0 && (
          <Empty title={t.instances.nothing}>{t.instances.nothingHint}</Empty>
        )}
        {rows.head?.data && rows.head.data.totalCount > 0 && (
          <>
            <BulkBar
              selected={selected}
              total={rows.head.data.totalCount}
              filter={filter}
              isRead={Object.keys(ignored).length === 0}
              onDone={() => {
                setSelected(new Set());
                reload();
              }}
              onPlan={(plan) => change({ plan })}
            />
            <LongList
              key={`${key} ${Math.floor((filter.page * PART) / ROWS_MAX)}`}
              filter={filter}
              rows={rows}
              selected={selected}
              onSelect={setSelected}
              onOrder={(order) => set({ order, ascending: filter.order === order && !filter.ascending })}
              onRest={rest}
            />
          </>
        )}
      </Card>
      <CopyCommands commands={listLines(filter, Date.now())} />
      {search.plan && (
        <PlanPanel plan={search.plan} onClose={() => change({ plan: undefined })} onDone={reload} />
      )}
    </Page>
  );
}
