import { useQuery } from "@tanstack/react-query";
import type { Api } from "../../api/types";
import { useNow } from "../../app/clock";
import { activityWord, formatDuration, formatQuarters, typeName } from "../../lib/format";
import { isOver, type State, stateOf } from "../../lib/states";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { StateIcon } from "../../ui/State";
import { Empty, Shown } from "../../ui/States";
import { Time } from "../../ui/Time";
import { type Bar, type Lane, type Timeline as Lanes, timelineOf, useExecutions } from "./executions";
import { useActivityNames } from "./names";
import { changesQuery, resolutionsOf, withSkips } from "./resolutions";

const FILL: Record<State, string> = {
  pending: "bg-pending",
  running: "bg-running",
  waiting: "bg-waiting",
  finished: "bg-finished",
  faulted: "bg-faulted",
  cancelled: "bg-cancelled",
  passedOver: "bg-ink",
  skipped: "bg-line-strong",
};

const DEPTH_MAX = 6;
const TICKS = [0, 0.25, 0.5, 0.75];
const GRID =
  "grid grid-cols-[minmax(6.5rem,14rem)_minmax(0,1fr)_5.5rem] gap-x-2 max-sm:grid-cols-[6.5rem_minmax(0,1fr)_5.25rem]";
const percent = (part: number) => `${(part * 100).toFixed(3)}%`;

/** One execution, from its begin to its end; the shortest one is a point. */
function Execution({ bar: { at, length, status, isWait } }: { bar: Bar }) {
  const state = stateOf(status);
  const isLight = isWait && state !== "faulted";
  return (
    <span
      className={`absolute top-1.5 h-3.5 min-w-1 rounded-xs ${FILL[state]} ${isLight ? "opacity-45" : ""}`}
      style={{ left: `min(${percent(at)}, calc(100% - 4px))`, width: percent(length) }}
    />
  );
}

function Row({
  lane,
  name,
  isSelected,
  onActivity,
}: {
  lane: Lane;
  name: string;
  isSelected: boolean;
  onActivity: () => void;
}) {
  const state = stateOf(lane.status);
  const took = formatDuration(lane.milliseconds);
  const times = lane.bars.length > 1 ? `${lane.bars.length} ×` : "";
  const type = typeName(lane.type);
  const words = [name, type !== name && type, times, t.states[state], t.instance.took(took)];
  return (
    <li>
      <button
        type="button"
        aria-pressed={isSelected}
        title={words.filter(Boolean).join(", ")}
        onClick={onActivity}
        className={`${GRID} w-full items-center px-3 text-left text-xs hover:bg-sunken ${isSelected ? "bg-accent-soft" : ""}`}
      >
        <span
          className="flex h-6.5 min-w-0 items-center gap-1.5"
          style={{ paddingLeft: `${Math.min(lane.depth, DEPTH_MAX) * 8}px` }}
        >
          <StateIcon state={state} still size={12} />
          <span className="truncate">{name}</span>
          <span className="sr-only">{t.states[state]}</span>
          {times && <span className="shrink-0 text-soft tabular-nums">{times}</span>}
        </span>
        <span className="relative h-6.5">
          {TICKS.map((tick) => (
            <span
              key={tick}
              className="absolute inset-y-0 border-l border-line"
              style={{ left: percent(tick) }}
            />
          ))}
          {lane.bars.map((bar) => (
            <Execution key={bar.id} bar={bar} />
          ))}
        </span>
        <span className="truncate text-right text-soft tabular-nums">{lane.milliseconds > 0 && took}</span>
      </button>
    </li>
  );
}

/** The time since the begin, at the top. */
function Axis({ from, to }: Pick<Lanes, "from" | "to">) {
  const labels = formatQuarters(to - from);
  return (
    <div className={`${GRID} sticky top-0 z-10 border-b border-line bg-sunken px-3 py-1 text-xs text-soft`}>
      <span className="truncate">
        <span className="max-sm:hidden">
          <Time at={new Date(from).toISOString()} />
        </span>
      </span>
      <span className="flex tabular-nums">
        {TICKS.map((tick, at) => (
          <span key={tick} className={`flex-1 truncate ${at % 2 === 1 ? "max-sm:hidden" : ""}`}>
            {labels[at]}
          </span>
        ))}
      </span>
      <span className="truncate text-right tabular-nums">{labels.at(-1)}</span>
    </div>
  );
}

/** When each activity ran, one below the other. */
export function Timeline({
  detail,
  activity,
  onActivity,
}: {
  detail: Api["InstanceDetail"];
  activity?: string;
  onActivity: (activity: string | undefined) => void;
}) {
  const names = useActivityNames(detail.definitionVersionId);
  const query = useExecutions(detail.id);
  const resolutions = resolutionsOf(useQuery(changesQuery(detail.id)).data?.items ?? []);
  const now = useNow();
  const over = isOver(detail.subStatus);
  const nameOf = (lane: Lane) =>
    lane.depth === 0
      ? t.instance.workflow
      : names(lane.activity, activityWord(lane.activity, lane.name, lane.type));
  return (
    <Shown query={query}>
      {({ pages }) => {
        const executions = withSkips(
          pages.flatMap((page) => page.items),
          resolutions,
        );
        if (executions.length === 0) return <Empty title={t.instance.timelineNothing} />;
        const { from, to, lanes } = timelineOf(
          executions,
          over ? Date.parse(detail.finishedAt ?? detail.updatedAt) : now,
          over ? detail.subStatus : undefined,
        );
        return (
          <>
            <Axis from={from} to={to} />
            <ol aria-label={t.instance.timeline}>
              {lanes.map((lane) => (
                <Row
                  key={lane.node}
                  lane={lane}
                  name={nameOf(lane)}
                  isSelected={lane.activity === activity}
                  onActivity={() => onActivity(lane.activity === activity ? undefined : lane.activity)}
                />
              ))}
            </ol>
            {query.hasNextPage && (
              <div className="p-3 text-center">
                <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                  {t.instance.timelineMore(executions.length, pages.at(-1)?.count ?? 0)}
                </Button>
              </div>
            )}
            <p className="border-t border-line px-3 py-2 text-xs text-soft">
              {t.instance.timelineHint} {pages.at(-1)?.isCut && t.instance.timelineCut}
            </p>
          </>
        );
      }}
    </Shown>
  );
}
