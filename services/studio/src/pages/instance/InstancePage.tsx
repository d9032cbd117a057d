import { type Query, useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { Problem } from "../../api/problem";
import { instanceQuery, versionQuery, whyQuery } from "../../api/queries";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { useAddress } from "../../app/address";
import { againIn } from "../../app/again";
import { canChange, isOver } from "../../lib/states";
import { visible } from "../../lib/visible";
import { t } from "../../text";
import { Button, buttonClass } from "../../ui/Button";
import { CopyButton } from "../../ui/Code";
import { later } from "../../ui/later";
import { Badge, StateBadge, Version } from "../../ui/State";
import { Empty, Shown } from "../../ui/States";
import { Tabs } from "../../ui/Tabs";
import { Duration, Time } from "../../ui/Time";
import { Actions } from "./Actions";
import { Compare } from "./Compare";
import { pointsOf } from "./comparing";
import { Family } from "./Family";
import { Incidents } from "./Incidents";
import { useInstanceLive } from "./live";
import { isLost } from "./lost";
import { useMarks } from "./marks";
import { Raw } from "./Raw";
import { Story } from "./Story";
import { Timeline } from "./Timeline";
import { Travel } from "./Travel";
import { Values } from "./Values";
import { Waits } from "./Waits";
import { Why } from "./Why";

const ActivityTree = later(async () => (await import("../../graph/ActivityTree")).ActivityTree);
const Graph = later(async () => (await import("../../graph/Graph")).Graph);

/** The graph comes from the definition, which not everyone may read. */
const mayDraw = () => can("read:workflow-definitions");

/** Why there is no graph to draw, where its definition was never there or is gone. */
function graphLack(detail: Api["InstanceDetail"], error: unknown): string | undefined {
  const { definitionId, definitionVersionId, version } = detail;
  if (!definitionVersionId) return t.instance.neverPublished(visible(definitionId));
  return error instanceof Problem && error.status === 404
    ? t.instance.versionGone(visible(definitionId), version)
    : undefined;
}

function Head({ detail }: { detail: Api["InstanceDetail"] }) {
  const over = isOver(detail.subStatus);
  const title = useQuery({ ...versionQuery(detail.definitionVersionId), enabled: mayDraw() }).data?.name;
  const name = detail.name ?? title ?? detail.definitionId;
  return (
    <header className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line bg-raised px-4 py-2.5">
      <div className="min-w-0">
        <h1 className="flex items-center gap-2 text-lg font-semibold">
          <span className="line-clamp-2 min-w-0 [overflow-wrap:anywhere]" title={name}>
            {visible(name)}
          </span>
          {detail.version > 0 && (
            <Link
              to="/definitions/$id"
              params={{ id: detail.definitionId }}
              search={{ version: String(detail.version) }}
            >
              <Badge>
                <Version of={detail.version} />
              </Badge>
            </Link>
          )}
        </h1>
        <p className="flex items-center gap-1 font-mono text-xs break-all text-soft">
          {detail.id}
          <CopyButton text={detail.id} />
        </p>
      </div>
      <StateBadge status={detail.subStatus} />
      {detail.workflowState.isPaused && <Badge tone="warn">{t.instance.paused}</Badge>}
      <dl className="flex flex-wrap gap-x-5 gap-y-1 text-sm">
        {detail.correlationId && (
          <div className="flex gap-1.5">
            <dt className="text-soft">{t.columns.correlation}</dt>
            <dd className="min-w-0 [overflow-wrap:anywhere]">{visible(detail.correlationId)}</dd>
          </div>
        )}
        <div className="flex flex-wrap gap-x-1.5">
          <dt className="text-soft">{t.columns.started}</dt>
          <dd>
            <Time at={detail.createdAt} />
          </dd>
        </div>
        <div className="flex flex-wrap gap-x-1.5">
          <dt className="text-soft">{over ? t.columns.took : t.instance.runsFor}</dt>
          <dd>
            <Duration from={detail.createdAt} to={detail.finishedAt} />
          </dd>
        </div>
      </dl>
      <div className="ml-auto">
        <Actions detail={detail} />
      </div>
    </header>
  );
}

function Body({ detail }: { detail: Api["InstanceDetail"] }) {
  const [search, change] = useAddress();
  const over = isOver(detail.subStatus);
  const last = detail.workflowState.executionLogSequence;
  const at = search.at && /^\d+$/.test(search.at) && Number(search.at) < last ? Number(search.at) : undefined;
  const marks = useMarks(detail.id, over ? detail.subStatus : undefined, at);
  const definition = useQuery({ ...versionQuery(detail.definitionVersionId), enabled: mayDraw() });
  const lacks = graphLack(detail, definition.error);
  const why = useQuery(whyQuery(detail.id));
  const state = detail.workflowState;
  const hasTree = search.tree === "yes";
  const points = pointsOf(search, last);
  const tabs = [
    { key: "story", word: t.instance.story },
    ...(can("read:activity-execution") ? [{ key: "timeline", word: t.instance.timeline }] : []),
    { key: "values", word: t.instance.values },
    { key: "waits", word: t.instance.waits, count: state.bookmarks.length },
    { key: "incidents", word: t.rail.incidents, count: state.incidents.length },
    { key: "family", word: t.instance.family, count: why.data?.children.length },
    { key: "raw", word: t.instance.raw },
    ...(points ? [{ key: "compare", word: t.comparing.tab }] : []),
  ];
  const tab = tabs.find(({ key }) => key === search.tab)?.key ?? "story";
  return (
    <>
      {/* The answer scrolls with what is below it: opened, it would push the graph beneath the bar of time. */}
      <div className="flex min-h-56 flex-1 flex-col overflow-y-auto max-md:min-h-0 max-md:flex-none max-md:overflow-visible">
        {why.data && <Why why={why.data} version={detail.definitionVersionId} detail={detail} />}
        {/* Side by side where the text leaves room for both, else one below the other. */}
        <div className="flex flex-col gap-px bg-line md:grid md:flex-[1_0_auto] md:auto-rows-[minmax(20rem,1fr)] md:grid-cols-[repeat(auto-fit,minmax(min(100%,26rem),1fr))]">
          {mayDraw() && (
            <section
              aria-label={t.graph.label}
              className="relative flex min-h-0 min-w-0 bg-paper max-md:h-56 md:contain-size"
            >
              {lacks && <Empty title={t.instance.noGraph}>{lacks}</Empty>}
              {!lacks && (
                <Shown query={definition}>
                  {(full) => (
                    <>
                      {hasTree && (
                        <aside className="flex w-56 shrink-0 flex-col border-r border-line bg-raised max-md:w-44">
                          <ActivityTree
                            root={full.root}
                            marks={marks}
                            selected={search.activity}
                            onSelect={(activity) => change({ activity })}
                          />
                        </aside>
                      )}
                      <div className="relative min-w-0 flex-1">
                        <Graph
                          key={String(hasTree)}
                          root={full.root}
                          marks={marks}
                          selected={search.activity}
                          onSelect={(activity) => change({ activity })}
                          isNarrow={hasTree}
                        />
                        <Button
                          className="!absolute top-2 left-2"
                          icon="list"
                          label={hasTree ? t.graph.hideTree : t.graph.showTree}
                          aria-expanded={hasTree}
                          onClick={() => change({ tree: hasTree ? undefined : "yes" })}
                        />
                      </div>
                    </>
                  )}
                </Shown>
              )}
            </section>
          )}
          <section
            aria-label={t.details}
            className="flex min-h-0 min-w-0 flex-1 flex-col bg-raised max-md:min-h-64 md:contain-size"
          >
            <Tabs label={t.details} tabs={tabs} current={tab} onChange={(next) => change({ tab: next })}>
              {tab === "story" && (
                <Story
                  key={detail.id}
                  detail={detail}
                  activity={search.activity}
                  at={at}
                  onActivity={(activity) => change({ activity })}
                />
              )}
              {tab === "timeline" && (
                <Timeline
                  detail={detail}
                  activity={search.activity}
                  onActivity={(activity) => change({ activity })}
                />
              )}
              {tab === "values" && <Values detail={detail} at={at} />}
              {tab === "waits" && <Waits detail={detail} />}
              {tab === "incidents" && <Incidents detail={detail} />}
              {tab === "family" && <Family detail={detail} />}
              {tab === "raw" && <Raw detail={detail} />}
              {tab === "compare" && points && (
                <Compare
                  detail={detail}
                  points={points}
                  onChange={([from, to]) => change({ from: String(from), at: String(to) })}
                  onClose={() => change({ from: undefined, tab: undefined })}
                />
              )}
            </Tabs>
          </section>
        </div>
      </div>
      <Travel
        detail={detail}
        at={at}
        onAt={(line) => change({ at: line?.toString() })}
        onCompare={points ? undefined : (line) => change({ from: String(line), tab: "compare" })}
      />
    </>
  );
}

/** In place of an instance that somebody has deleted while its page was open: nothing can be done with it. */
function Deleted({ id }: { id: string }) {
  return (
    <Empty title={t.instance.deleted}>
      <p>{t.instance.deletedText}</p>
      <p className="mt-1 font-mono text-xs break-all">{visible(id)}</p>
      <Link to="/instances" className={`${buttonClass()} mt-3`}>
        {t.instance.toList}
      </Link>
    </Empty>
  );
}

/** The stream says that an instance was deleted. One that is over has none: how often one looks whether it is there. */
const LOOK_MS = 30_000;

/** When an instance is asked for again. */
function lookIn(query: Pick<Query<Api["InstanceDetail"]>, "state">): number | false {
  const { data } = query.state;
  const isOverNow = data !== undefined && !canChange(data.subStatus) && !isLost(query.state);
  return againIn(query) || (isOverNow && LOOK_MS);
}

export function InstancePage() {
  const { id } = useParams({ strict: false });
  const instance = id ?? "";
  const query = useQuery({ ...instanceQuery(instance), refetchInterval: lookIn });
  const over = query.data !== undefined && !canChange(query.data.subStatus);
  const live = useInstanceLive(instance, query.data?.workflowState.executionLogSequence, over);
  return (
    <div className="flex h-full flex-col max-md:h-auto max-md:min-h-full" data-live={live.is}>
      {isLost(query) ? (
        <div role="alert">
          <Deleted id={instance} />
        </div>
      ) : (
        <Shown query={query} rows={10}>
          {(detail) => (
            <>
              <Head detail={detail} />
              <Body detail={detail} />
            </>
          )}
        </Shown>
      )}
    </div>
  );
}
