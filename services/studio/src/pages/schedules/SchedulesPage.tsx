import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { get, id, post } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { pageOf, useAddress } from "../../app/address";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { CopyCommands } from "../../ui/Code";
import { Select } from "../../ui/Field";
import { List } from "../../ui/List";
import { Menu } from "../../ui/Menu";
import { attempt } from "../../ui/notices";
import { Page } from "../../ui/Page";
import { Card, Facts, SidePanel } from "../../ui/Panel";
import { Badge } from "../../ui/State";
import { Shown } from "../../ui/States";
import type { Column } from "../../ui/Table";
import { Time } from "../../ui/Time";
import { ActivityName } from "../incidents/ActivityName";
import { useDefinitionNames } from "../instances/names";
import { Axis } from "./Axis";
import { linesOf, listLines } from "./lines";

type Schedule = Api["ScheduleShown"];

const PAGE_SIZE = 50;
/** The next times of one schedule that its panel shows. */
const AHEAD = 5;
const UPCOMING = 100;

type Deed = "pause" | "resume" | "catchUp" | "trigger";

async function act(deed: Deed, schedule: Schedule): Promise<void> {
  const path = `/schedules/${id(schedule.id)}`;
  if (deed === "pause" || deed === "trigger") await post(`${path}/${deed}`);
  else await post(`${path}/resume`, { catchUp: deed === "catchUp" });
}

function useDeeds() {
  const client = useQueryClient();
  return async (deed: Deed, schedule: Schedule) => {
    await attempt(() => act(deed, schedule), t.schedules.done[deed]);
    for (const key of ["schedules", "counts"]) void client.invalidateQueries({ queryKey: [key] });
  };
}

function itemsOf(schedule: Schedule, run: (deed: Deed, schedule: Schedule) => Promise<void>) {
  const offered = (deed: Deed) => ({ word: t.schedules[deed], act: () => void run(deed, schedule) });
  return [
    can("exec:workflow-definitions") && offered("trigger"),
    can("write:schedules") && !schedule.isPaused && offered("pause"),
    can("write:schedules") && schedule.isPaused && offered("resume"),
    can("write:schedules") && schedule.isPaused && offered("catchUp"),
  ];
}

function State({ of }: { of: Schedule }) {
  if (of.isPaused)
    return <Badge tone="warn">{of.pausedBy ? t.schedules.pausedBy(of.pausedBy) : t.instance.paused}</Badge>;
  return of.nextAt ? <Badge tone="good">{t.schedules.active}</Badge> : <Badge>{t.schedules.over}</Badge>;
}

const when = (schedule: Schedule) =>
  [schedule.expression, schedule.kind === "Cron" ? (schedule.timeZone ?? "UTC") : undefined]
    .filter(Boolean)
    .join(" · ");

function Detail({ schedule, onClose }: { schedule: string; onClose: () => void }) {
  const run = useDeeds();
  const names = useDefinitionNames();
  const query = useQuery({
    queryKey: ["schedules", "one", schedule],
    queryFn: ({ signal }) => get<Schedule>(`/schedules/${id(schedule)}`, { upcoming: AHEAD }, signal),
  });
  return (
    <SidePanel title={t.schedules.one} onClose={onClose}>
      <Shown query={query}>
        {(one) => (
          <>
            <Facts
              facts={[
                [
                  t.columns.definition,
                  <Link key="to" to="/definitions/$id" params={{ id: one.definitionId }} className="link">
                    {names.get(one.definitionId) ?? one.definitionId}
                  </Link>,
                ],
                [t.messages.activity, <ActivityName key="activity" of={one} />],
                [
                  "Id",
                  <code key="id" className="font-mono text-xs break-all">
                    {one.id}
                  </code>,
                ],
                [t.schedules.kind, t.schedules.kinds[one.kind] ?? one.kind],
                [
                  t.schedules.when,
                  <code key="when" className="font-mono text-xs">
                    {when(one)}
                  </code>,
                ],
                [t.filters.state, <State key="state" of={one} />],
                one.pausedAt ? [t.schedules.pausedAt, <Time key="at" at={one.pausedAt} />] : undefined,
                [t.schedules.last, <Time key="last" at={one.lastAt} />],
                [t.schedules.missed, String(one.missed)],
                [
                  t.schedules.policy,
                  `${t.schedules.policies[one.misfirePolicy] ?? one.misfirePolicy}${one.catchUpMax ? ` (≤ ${one.catchUpMax})` : ""}`,
                ],
              ]}
            />
            <div className="flex flex-wrap gap-2">
              {itemsOf(one, run).map(
                (item) =>
                  item && (
                    <Button key={item.word} onClick={item.act}>
                      {item.word}
                    </Button>
                  ),
              )}
            </div>
            <section>
              <h3 className="mb-1 text-sm font-medium">{t.schedules.upcoming}</h3>
              {one.upcoming.length === 0 && (
                <p className="text-sm text-soft">
                  {one.isPaused ? t.schedules.noNextPaused : t.schedules.noNext}
                </p>
              )}
              <ol className="space-y-0.5 text-sm">
                {one.upcoming.map((at) => (
                  <li key={at}>
                    <Time at={at} />
                  </li>
                ))}
              </ol>
            </section>
            <CopyCommands commands={linesOf(one)} />
          </>
        )}
      </Shown>
    </SidePanel>
  );
}

/** When workflows start by themselves, and the ways to stop and to hurry that. */
export function SchedulesPage() {
  const [search, change] = useAddress();
  const names = useDefinitionNames();
  const run = useDeeds();
  const asked = {
    definitionId: search.definition,
    isPaused: search.show === "paused" ? true : search.show === "active" ? false : undefined,
    page: pageOf(search),
    pageSize: PAGE_SIZE,
    upcoming: UPCOMING,
  };
  const query = useQuery({
    queryKey: ["schedules", asked],
    queryFn: ({ signal }) => get<Api["Paged_ScheduleShown"]>("/schedules", asked, signal),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  });
  const isNarrowed = [search.definition, search.show].some(Boolean);
  const columns: Column<Schedule>[] = [
    {
      key: "definition",
      head: t.columns.definition,
      cell: (row) => (
        <button
          type="button"
          className="link font-medium text-accent"
          onClick={() => change({ schedule: row.id })}
          aria-label={t.schedules.open(names.get(row.definitionId) ?? row.definitionId, row.activityId)}
        >
          {names.get(row.definitionId) ?? row.definitionId}
        </button>
      ),
    },
    {
      key: "activity",
      head: t.messages.activity,
      className: "!max-w-40",
      cell: (row) => <ActivityName of={row} />,
    },
    {
      key: "when",
      head: t.schedules.when,
      cell: (row) => <code className="font-mono text-xs">{when(row)}</code>,
    },
    { key: "next", head: t.schedules.next, cell: (row) => <Time at={row.nextAt} /> },
    { key: "last", head: t.schedules.last, isExtra: true, cell: (row) => <Time at={row.lastAt} /> },
    {
      key: "missed",
      head: t.schedules.missed,
      end: true,
      cell: (row) => (row.missed > 0 ? <Badge tone="warn">{row.missed}</Badge> : "0"),
    },
    { key: "state", head: t.filters.state, cell: (row) => <State of={row} /> },
    {
      key: "menu",
      head: <span className="sr-only">{t.actions}</span>,
      end: true,
      className: "!overflow-visible",
      cell: (row) => (
        <Menu label={t.access.actionsOf(row.activityId)} tone="quiet" items={itemsOf(row, run)} />
      ),
    },
  ];
  return (
    <Page title={t.rail.schedules} note={t.schedules.note}>
      <div className="flex flex-wrap gap-2">
        <Select
          className="w-64"
          label={t.columns.definition}
          hideLabel
          value={search.definition ?? ""}
          options={[["", t.filters.anyDefinition], ...names]}
          onChange={(event) => change({ definition: event.target.value || undefined, page: undefined })}
        />
        <Select
          className="w-48"
          label={t.filters.state}
          hideLabel
          value={search.show ?? ""}
          options={[
            ["", t.schedules.all],
            ["active", t.schedules.onlyActive],
            ["paused", t.schedules.onlyPaused],
          ]}
          onChange={(event) => change({ show: event.target.value || undefined, page: undefined })}
        />
      </div>
      {query.data && query.data.items.length > 0 && (
        <Axis
          schedules={query.data.items}
          asked={UPCOMING}
          nameOf={(one) => names.get(one.definitionId) ?? one.definitionId}
        />
      )}
      <Card>
        <List
          query={query}
          rows={({ items }) => items}
          paged={{ total: ({ totalCount }) => totalCount, size: PAGE_SIZE }}
          empty={isNarrowed ? t.schedules.noMatch : t.schedules.nothing}
          emptyHint={isNarrowed ? t.schedules.noMatchHint : t.schedules.nothingHint}
          label={t.rail.schedules}
          columns={columns}
          rowKey={(row) => row.id}
          current={search.schedule}
        />
      </Card>
      <CopyCommands commands={listLines(asked)} />
      {search.schedule && (
        <Detail schedule={search.schedule} onClose={() => change({ schedule: undefined })} />
      )}
    </Page>
  );
}
