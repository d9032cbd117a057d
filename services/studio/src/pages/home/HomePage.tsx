import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { get } from "../../api/client";
import { lettersQuery, metricsQuery, useCounts } from "../../api/queries";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import type { Search } from "../../lib/filters";
import { formatCount } from "../../lib/format";
import { metric } from "../../lib/metrics";
import type { State } from "../../lib/states";
import { language, t } from "../../text";
import { Page } from "../../ui/Page";
import { StateIcon } from "../../ui/State";
import { Empty } from "../../ui/States";
import { Feed } from "./Feed";
import { FirstSteps } from "./FirstSteps";
import { NeedsYou } from "./NeedsYou";
import { TryIt } from "./TryIt";

function Figure({
  word,
  value,
  state,
  to,
  search,
  alarm,
}: {
  word: string;
  value?: number;
  state: State;
  to: "/instances" | "/cluster";
  search?: Search;
  alarm?: boolean;
}) {
  return (
    <Link
      to={to}
      search={search ?? {}}
      className={`flex min-w-0 flex-col gap-0.5 rounded-md border bg-raised px-4 py-3 hover:bg-sunken ${alarm && value ? "border-faulted" : "border-line"}`}
    >
      <span className="flex items-center gap-1.5 truncate text-sm text-soft">
        <StateIcon state={state} still />
        {word}
      </span>
      <span className="text-2xl font-semibold tabular-nums">
        {value === undefined ? "…" : formatCount(value, language)}
      </span>
    </Link>
  );
}

/** All metrics are a long answer for one figure. */
const RARELY = { refetchInterval: 60_000, staleTime: 60_000 };

/** What the last hour was like; each number leads to its list. */
function Figures() {
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const after = (column: "CreatedAt" | "FinishedAt" | "UpdatedAt") => [
    { column, operator: "GreaterThanOrEqual" as const, timestamp: since },
  ];
  const counts = useCounts(
    [
      { timestampFilters: after("CreatedAt") },
      { timestampFilters: after("FinishedAt"), subStatus: "Finished" },
      { timestampFilters: after("UpdatedAt"), subStatus: "Faulted" },
      { subStatus: "Suspended" },
      { subStatuses: ["Pending", "Executing"] },
    ],
    "home",
  ).data;
  const metrics = useQuery({ ...metricsQuery, ...RARELY }).data;
  return (
    <section aria-label={t.home.lastHour} className="grid grid-cols-2 gap-3 sm:grid-cols-3 xl:grid-cols-6">
      <Figure
        word={t.home.started}
        value={counts?.[0]}
        state="running"
        to="/instances"
        search={{ since: "1h" }}
      />
      <Figure
        word={t.home.finished}
        value={counts?.[1]}
        state="finished"
        to="/instances"
        search={{ since: "1h", time: "FinishedAt", state: "Finished" }}
      />
      <Figure
        word={t.home.faulted}
        value={counts?.[2]}
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
      {metrics && metric(metrics, "staunch_cluster_timers_overdue") !== undefined && (
        <Figure
          word={t.home.late}
          value={metric(metrics, "staunch_cluster_timers_overdue")}
          state="pending"
          alarm
          to="/cluster"
        />
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
  return (
    <Page title={t.rail.home} note={t.home.note}>
      {maySee && <Figures />}
      {isNew ? <FirstSteps /> : <TryIt />}
      {!maySee && <Empty title={t.home.noPermission} />}
      {maySee && (
        <div className="grid items-start gap-4 lg:grid-cols-[3fr_2fr]">
          <NeedsYou letters={letters.data?.totalCount ?? 0} />
          <Feed />
        </div>
      )}
    </Page>
  );
}
