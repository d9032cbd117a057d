import { useQuery } from "@tanstack/react-query";
import { get } from "../../api/client";
import { clusterCountsQuery, lastHourQuery, useCount, useRunning, useWaiting } from "../../api/queries";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { HaltedNote } from "../../app/HaltedNote";
import { offered, PAGES } from "../../app/pages";
import { t } from "../../text";
import { Page } from "../../ui/Page";
import { Empty } from "../../ui/States";
import { Feed } from "./Feed";
import { Figure } from "./Figure";
import { FirstSteps } from "./FirstSteps";
import { NeedsYou } from "./NeedsYou";
import { Runs } from "./Runs";
import { TryIt } from "./TryIt";

/** Late timers are no news of the second. */
const RARELY = { refetchInterval: 60_000, staleTime: 60_000 };

/** What the last hour was like; each number leads to its list, and each fails by itself. */
function Figures() {
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const after = (column: "CreatedAt" | "UpdatedAt") => [
    { column, operator: "GreaterThanOrEqual" as const, timestamp: since },
  ];
  const started = useCount({ timestampFilters: after("CreatedAt") }, "started");
  // What has finished changes no more, and only this time has an index with the state.
  const finished = useCount({ timestampFilters: after("UpdatedAt"), subStatus: "Finished" }, "finished");
  const faulted = useCount({ timestampFilters: after("UpdatedAt"), subStatus: "Faulted" }, "faulted");
  const waiting = useWaiting();
  const running = useRunning();
  const maySeeNodes = can("read:nodes");
  const cluster = useQuery({ ...clusterCountsQuery, ...RARELY, enabled: maySeeNodes });
  const hour = useQuery(lastHourQuery).data;
  const line = (counts?: readonly number[]) => ({ counts, isCutShort: hour?.isCutShort });
  return (
    <section
      aria-label={t.home.lastHour}
      className="grid gap-3 @3xs:grid-cols-2 @xl:grid-cols-3 @5xl:grid-cols-6"
    >
      <Figure
        word={t.home.started}
        query={started}
        spark={line(hour?.started)}
        state="running"
        to="/instances"
        search={{ since: "1h" }}
      />
      <Figure
        word={t.home.finished}
        query={finished}
        spark={line(hour?.finished)}
        state="finished"
        to="/instances"
        search={{ since: "1h", time: "FinishedAt", state: "Finished" }}
      />
      <Figure
        word={t.home.faulted}
        query={faulted}
        spark={line(hour?.faulted)}
        state="faulted"
        alarm
        to="/instances"
        search={{ since: "1h", time: "UpdatedAt", state: "Faulted" }}
      />
      <Figure
        word={t.home.running}
        query={running}
        state="running"
        to="/instances"
        search={{ state: "Pending,Executing" }}
      />
      <Figure
        word={t.home.waiting}
        query={waiting}
        state="waiting"
        to="/instances"
        search={{ state: "Suspended" }}
      />
      {maySeeNodes && (
        <Figure
          word={t.home.late}
          query={{ ...cluster, data: cluster.data?.timersOverdue }}
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
              <NeedsYou />
              <Runs />
            </div>
            <Feed />
          </div>
        </div>
      )}
    </Page>
  );
}
