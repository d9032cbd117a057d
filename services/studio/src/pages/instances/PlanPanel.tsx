import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { get, id, post } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { formatCount, shortId } from "../../lib/format";
import { changes, quoted, reads, staunch } from "../../lib/shell";
import { language, t } from "../../text";
import { Button } from "../../ui/Button";
import { CopyCommands } from "../../ui/Code";
import { Select } from "../../ui/Field";
import { attempt } from "../../ui/notices";
import { Pager } from "../../ui/Pager";
import { Facts, SidePanel } from "../../ui/Panel";
import { Progress } from "../../ui/Progress";
import { Badge } from "../../ui/State";
import { Shown } from "../../ui/States";
import { Time } from "../../ui/Time";
import { againWords, SEEN_MAX, seenIn, summariesOf } from "../instance/retrying";
import { endOf, isRetry, type PlanEnd, TONES } from "./plans";

/** The jobs that are read at once. */
const PAGE_SIZE = 50;

/** The states of jobs, as the server names them. */
const STATES = [
  ["Failed", t.plan.failed],
  ["Completed", t.plan.completed],
  ["Running", t.plan.running],
  ["Pending", t.plan.pending],
] as const;

const isOver = (seen: Api["PlanSeen"]) => Boolean(seen.plan.completedAt);

/** Nothing of it changes any more: jobs that were begun go on when somebody stops it. */
const hasEnded = (seen: Api["PlanSeen"]) => isOver(seen) && seen.progress.running === 0;

function wordsOf(end: PlanEnd): string {
  const number = (value: number) => formatCount(value, language);
  switch (end.key) {
    case "partly":
      return t.plan.ends.partly(number(end.failed), number(end.all));
    case "stopped":
      return t.plan.ends.stopped(number(end.left), number(end.all));
    case "again": {
      const { failed, all } = end;
      const begun =
        failed > 0 ? t.plan.ends.partly(number(failed), number(all)) : t.plan.ends.retried(number(all));
      return `${begun}. ${againWords(end.again, all)}`;
    }
    case "succeeded":
    case "retried":
    case "failed":
      return t.plan.ends[end.key](number(end.all));
    default:
      return t.plan.ends[end.key];
  }
}

function Figures({
  progress,
  again,
  words,
}: {
  progress: Api["PlanProgress"];
  /** How many of those that are done have failed again. */
  again: number;
  words?: string;
}) {
  const total = progress.completed + progress.failed + progress.pending + progress.running;
  const done = progress.completed + progress.failed;
  const number = (value: number) => formatCount(value, language);
  return (
    <div>
      <div className="mb-3">
        <Progress
          label={t.plan.progress}
          done={done}
          total={total}
          failed={progress.failed + again}
          words={words}
        />
      </div>
      <Facts
        facts={[
          [t.plan.completed, number(progress.completed)],
          [t.plan.failed, number(progress.failed)],
          again > 0 && [t.plan.failedAgain, number(again)],
          [t.plan.running, number(progress.running)],
          [t.plan.pending, number(progress.pending)],
        ]}
      />
    </div>
  );
}

const NONE: ReadonlySet<string> = new Set();

/** The instances that a plan has retried and that have failed again; of a long one, the first are looked at. */
function useAgain(plan: string, seen: Api["PlanSeen"] | undefined): ReadonlySet<string> {
  const enabled = Boolean(seen && isOver(seen) && isRetry(seen)) && can("read:workflow-instances");
  const jobs = useQuery({
    queryKey: ["plan", plan, "retried"],
    enabled,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => {
      const asked = { status: "Completed", page: 0, pageSize: SEEN_MAX };
      return get<Api["PlanSeen"]>(`/alterations/${id(plan)}`, asked, signal);
    },
  }).data?.jobs;
  const ids = jobs?.map((job) => job.workflowInstanceId) ?? [];
  const { data } = useQuery({
    queryKey: ["plan", plan, "again"],
    enabled: ids.length > 0,
    queryFn: async ({ signal }) => new Set(seenIn(await summariesOf(ids, signal)).again),
    // They go on after the plan is done.
    refetchInterval: 2000,
  });
  return data ?? NONE;
}

/** A change of many instances: how far it is, and what failed and why. */
export function PlanPanel({
  plan,
  onClose,
  onDone,
}: {
  plan: string;
  onClose: () => void;
  onDone: () => void;
}) {
  const [page, setPage] = useState(0);
  const [status, setStatus] = useState("");
  const query = useQuery({
    queryKey: ["plan", plan, status, page],
    queryFn: ({ signal }) =>
      get<Api["PlanSeen"]>(
        `/alterations/${id(plan)}`,
        { status: status || undefined, page, pageSize: PAGE_SIZE },
        signal,
      ),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data && hasEnded(state.data) ? false : 700),
  });
  const place = `/alterations/${id(plan)}`;
  const over = query.data ? isOver(query.data) : false;
  const again = useAgain(plan, query.data);
  const end = query.data && endOf(query.data, again.size);
  const [stopping, setStopping] = useState(false);
  const client = useQueryClient();
  const stop = async () => {
    setStopping(true);
    await attempt(() => post<Api["Stopped"]>(`/alterations/${id(plan)}/stop`), t.plan.stopped);
    setStopping(false);
    void client.invalidateQueries({ queryKey: ["plan", plan] });
  };
  const done = useRef(onDone);
  done.current = onDone;
  useEffect(() => {
    if (over) done.current();
  }, [over]);
  return (
    <SidePanel title={t.plan.title} onClose={onClose}>
      <Shown query={query}>
        {(seen) => (
          <>
            <Facts
              facts={[
                [t.plan.change, seen.plan.alterations.map((one) => one.type).join(", ")],
                [
                  t.filters.state,
                  <Badge key="state" tone={end && TONES[end.key]}>
                    {end ? wordsOf(end) : (t.server[seen.plan.status] ?? seen.plan.status)}
                  </Badge>,
                ],
                [t.columns.started, <Time key="at" at={seen.plan.createdAt} />],
              ]}
            />
            {!over && can("run:alterations") && (
              <div className="space-y-1">
                <Button tone="danger" busy={stopping} onClick={() => void stop()}>
                  {t.plan.stop}
                </Button>
                <p className="text-xs text-soft">{t.plan.stopHint}</p>
              </div>
            )}
            <Figures progress={seen.progress} again={again.size} words={end && wordsOf(end)} />
            <Select
              label={t.plan.show}
              hideLabel
              value={status}
              options={[["", t.plan.all], ...STATES]}
              onChange={(event) => {
                setStatus(event.target.value);
                setPage(0);
              }}
            />
            {seen.totalCount > PAGE_SIZE && (
              <Pager page={page} pageSize={PAGE_SIZE} total={seen.totalCount} onPage={setPage} />
            )}
            {seen.jobs.length === 0 && status !== "" && <p className="text-sm text-soft">{t.plan.none}</p>}
            <ul className="mt-2 divide-y divide-line border-t border-line text-sm">
              {seen.jobs.map((job) => (
                <li key={job.id} className="py-2">
                  <div className="flex gap-3">
                    <Link
                      to="/instances/$id"
                      params={{ id: job.workflowInstanceId }}
                      className="link flex-1 font-mono text-xs"
                    >
                      {shortId(job.workflowInstanceId)}
                    </Link>
                    {again.has(job.workflowInstanceId) ? (
                      <Badge tone="bad">{t.plan.failedAgain}</Badge>
                    ) : (
                      <Badge tone={job.status === "Failed" ? "bad" : "plain"}>
                        {t.server[job.status] ?? job.status}
                      </Badge>
                    )}
                  </div>
                  {job.log.map((line) => (
                    <p key={line.message} className="text-xs text-soft">
                      {line.message}
                    </p>
                  ))}
                </li>
              ))}
            </ul>
            <CopyCommands
              commands={{
                staunch: [
                  staunch(`instance plan get ${quoted(plan)}`),
                  ...(over ? [] : [staunch(`instance plan stop ${quoted(plan)}`)]),
                ],
                nats: [reads(place).nats, ...(over ? [] : [changes("POST", `${place}/stop`).nats])],
                curl: [reads(place).curl, ...(over ? [] : [changes("POST", `${place}/stop`).curl])],
              }}
            />
          </>
        )}
      </Shown>
    </SidePanel>
  );
}
