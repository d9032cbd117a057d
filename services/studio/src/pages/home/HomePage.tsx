import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { get } from "../../api/client";
import { clusterCountsQuery, lastHourQuery, lettersQuery, useCounts } from "../../api/queries";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { HaltedNote } from "../../app/HaltedNote";
import { offered, PAGES } from "../../app/pages";
import type { Search } from "../../lib/filters";
import { formatCount } from "../../lib/format";
import type { State } from "../../lib/states";
import { language, t } from "../../text";
import { Page } from "../../ui/Page";
import { Spark } from "../../ui/Spark";
import { StateIcon } from "../../ui/State";
import { Empty } from "../../ui/States";
import { Feed } from "./Feed";
import { FirstSteps } from "./FirstSteps";
import { NeedsYou } from "./NeedsYou";
import { Runs } from "./Runs";
import { TryIt } from "./TryIt";

function Figure({
  word,
  value,
  state,
  to,
  search,
  alarm,
  spark,
}: {
  word: string;
  value?: number;
  state: State;
  to: "/instances" | "/cluster";
  search?: Search;
  alarm?: boolean;
  /** The counts of the last hour, and whether they are cut short. */
  spark?: { counts?: readonly number[]; isCutShort?: boolean };
}) {
  return (
    <Link
      to={to}
      search={search ?? {}}
      className={`flex min-w-0 flex-col gap-0.5 rounded-md border bg-raised px-4 py-3 hover:bg-sunken ${alarm && value ? "border-faulted" : "border-line"}`}
    >
      <span className="flex items-center gap-1.5 text-sm [overflow-wrap:anywhere] text-soft">
        <StateIcon state={state} still />
        {word}
      </span>
      <span className="flex items-center gap-3">
        <span className="text-2xl font-semibold tabular-nums">
          {value === undefined ? "…" : formatCount(value, language)}
        </span>
        {spark?.counts && (
          <Spark
            counts={spark.counts}
            isCutShort={spark.isCutShort}
            className="h-6 w-12 min-w-0 flex-1 text-soft"
          />
        )}
      </span>
    </Link>
  );
}

/** Late timers are no news of the second. */
const RARELY = { refetchInterval: 60_000, staleTime: 60_000 };

/** What the last hour was like; each number leads to its list. */
function Figures() {
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const after = (column: "CreatedAt" | "UpdatedAt") => [
    { column, operator: "GreaterThanOrEqual" as const, timestamp: since },
  ];
  const counts = useCounts(
    [
      { timestampFilters: after("CreatedAt") },
      // What has finished changes no more, and only this time has an index with the state.
      { timestampFilters: after("UpdatedAt"), subStatus: "Finished" },
      { timestampFilters: after("UpdatedAt"), subStatus: "Faulted" },
      { subStatus: "Suspended" },
      { subStatuses: ["Pending", "Executing"] },
    ],
    "home",
  ).data;
  const cluster = useQuery({ ...clusterCountsQuery, ...RARELY, enabled: can("read:nodes") }).data;
  const hour = useQuery(lastHourQuery).data;
  const line = (counts?: readonly number[]) => ({ counts, isCutShort: hour?.isCutShort });
  return (
    <section
      aria-label={t.home.lastHour}
      className="grid gap-3 @3xs:grid-cols-2 @xl:grid-cols-3 @5xl:grid-cols-6"
    >
      <Figure
        word={t.home.started}
        value={counts?.[0]}
        spark={line(hour?.started)}
        state="running"
        to="/instances"
        search={{ since: "1h" }}
      />
      <Figure
        word={t.home.finished}
        value={counts?.[1]}
        spark={line(hour?.finished)}
        state="finished"
        to="/instances"
        search={{ since: "1h", time: "FinishedAt", state: "Finished" }}
      />
      <Figure
        word={t.home.faulted}
        value={counts?.[2]}
        spark={line(hour?.faulted)}
        state="faulted"
        alarm
        to="/instances"
        search={{ since: "1h", time: "UpdatedAt", state: "Faulted" }}
      />
      <Figure
        word={t.home.running}
        value={counts?.[4]}
        state="running"
        to="/instances"
        search={{ state: "Pending,Executing" }}
      />
      <Figure
        word={t.home.waiting}
        value={counts?.[3]}
        state="waiting"
        to="/instances"
        search={{ state: "Suspended" }}
      />
      {cluster && (
        <Figure word={t.home.late} value={cluster.timersOverdue} state="pending" alarm to="/cluster" />
      )}
    </section>
  );
}

export function HomePage() {
  const definitions = useQuery({
    queryKey: ["definitions", "count"],
    enabled: can("read:workflow-definitions"),
    queryFn: ({ signal }) => get<Api["Count"]>("/workflow-definitions/query/count", undefined, signal),
  });
  const letters = useQuery({ ...lettersQuery(0, 1), enabled: can("read:bookmark-queue:dead-letters") });
  const isNew = definitions.data?.count === 0;
  const maySee = can("read:workflow-instances");
  const hasPages = offered(PAGES, can).some(({ to }) => to !== "/");
  return (
    <Page title={t.rail.home} note={t.home.note}>
      <HaltedNote />
      {maySee && (
        <div className="@container">
          <Figures />
        </div>
      )}
      {isNew ? <FirstSteps /> : <TryIt />}
      {!maySee && hasPages && <Empty title={t.home.noPermission} />}
      {!hasPages && <Empty title={t.home.noRole}>{t.home.noRoleHint}</Empty>}
      {maySee && (
        <div className="@container">
          <div className="grid items-start gap-4 @4xl:grid-cols-[3fr_2fr]">
            <div className="min-w-0 space-y-4">
              <NeedsYou letters={letters.data?.totalCount ?? 0} />
              <Runs />
            </div>
            <Feed />
          </div>
        </div>
      )}
    </Page>
  );
}
