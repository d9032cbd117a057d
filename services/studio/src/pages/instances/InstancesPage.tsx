import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { instancesQuery } from "../../api/queries";
import { useAddress } from "../../app/address";
import { onHappening } from "../../app/live";
import { fromAddress, type InstanceFilter, toAddress, toRequest } from "../../lib/filters";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Page } from "../../ui/Page";
import { Pager } from "../../ui/Pager";
import { Card } from "../../ui/Panel";
import { Empty, Shown } from "../../ui/States";
import { BulkBar } from "./BulkBar";
import { Filters } from "./Filters";
import { InstanceTable } from "./InstanceTable";
import { PlanPanel } from "./PlanPanel";
import { StateCounts } from "./StateCounts";

const PAGE_SIZE = 50;

/** Counts instances that began since the list was read: they wait until one asks for them. */
function useNews(readAt: number, definition?: string) {
  const [news, setNews] = useState({ readAt, count: 0 });
  useEffect(
    () =>
      onHappening((event) => {
        if (event.name !== "started" || Date.parse(event.at) < readAt) return;
        if (definition && event.definitionId !== definition) return;
        setNews((old) => ({ readAt, count: old.readAt === readAt ? old.count + 1 : 1 }));
      }),
    [readAt, definition],
  );
  return news.readAt === readAt ? news.count : 0;
}

export function InstancesPage() {
  const [search, change] = useAddress();
  const client = useQueryClient();
  const filter = useMemo(() => fromAddress(search), [search]);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const key = useMemo(() => toAddress(filter), [filter]);
  const query = useQuery(instancesQuery(toRequest(filter, Date.now(), PAGE_SIZE), key));
  const news = useNews(query.dataUpdatedAt, filter.definition);

  const set = (part: Partial<InstanceFilter>) => {
    setSelected(new Set());
    change(toAddress({ ...filter, page: 0, ...part }), part.page !== undefined);
  };
  const reload = () => {
    void client.invalidateQueries({ queryKey: ["instances"] });
    void client.invalidateQueries({ queryKey: ["counts"] });
  };

  return (
    <Page
      title={t.rail.instances}
      actions={
        <>
          {news > 0 && (
            <Button tone="main" onClick={reload}>
              {t.instances.news(news)}
            </Button>
          )}
          <Button icon="refresh" onClick={reload}>
            {t.refresh}
          </Button>
        </>
      }
    >
      <StateCounts filter={filter} onChange={(states) => set({ states })} />
      <Filters filter={filter} onChange={set} />
      <Card>
        <Shown query={query} rows={12}>
          {(page) =>
            page.totalCount === 0 ? (
              <Empty title={t.instances.nothing}>{t.instances.nothingHint}</Empty>
            ) : (
              <>
                <BulkBar
                  selected={selected}
                  total={page.totalCount}
                  filter={filter}
                  onDone={() => {
                    setSelected(new Set());
                    reload();
                  }}
                  onPlan={(plan) => change({ plan })}
                />
                <InstanceTable
                  rows={page.items}
                  filter={filter}
                  onOrder={(order) => set({ order, ascending: filter.order === order && !filter.ascending })}
                  selected={selected}
                  onSelect={setSelected}
                />
                <div className="flex justify-end border-t border-line px-3 py-1">
                  <Pager
                    page={filter.page}
                    pageSize={PAGE_SIZE}
                    total={page.totalCount}
                    onPage={(next) => set({ page: next })}
                  />
                </div>
              </>
            )
          }
        </Shown>
      </Card>
      {search.plan && (
        <PlanPanel plan={search.plan} onClose={() => change({ plan: undefined })} onDone={reload} />
      )}
    </Page>
  );
}
