import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Fragment, useState } from "react";
import { get, id, post } from "../../api/client";
import { variablesQuery } from "../../api/queries";
import type { Api } from "../../api/types";
import { fold } from "../../lib/fold";
import { activityWord, typeName } from "../../lib/format";
import { stateOf } from "../../lib/states";
import { visible } from "../../lib/visible";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { StateIcon } from "../../ui/State";
import { Empty, Shown } from "../../ui/States";
import { Time } from "../../ui/Time";
import { Value } from "../../ui/Value";
import { aboutOf, changedVariable, valueThen } from "./alterations";
import { Fold } from "./Fold";
import { burstKey, lineKey, namesOfRound } from "./loops";
import { useActivityNames } from "./names";

const PAGE = 200;

/** What the server puts for an activity in a line about the instance as a whole. */
const WHOLE = "Workflow1";

type Entry = Api["JournalEntry"];

/** Lines with one time belong to one burst: they were stored together. */
export function bursts(entries: readonly Entry[]): Entry[][] {
  const all: Entry[][] = [];
  for (const entry of entries) {
    const last = all.at(-1);
    if (last && last[0]?.timestamp === entry.timestamp) last.push(entry);
    else all.push([entry]);
  }
  return all;
}

/** What a line is about, in the reader's language. */
export const eventWord = (name: string, words: Record<string, string> = t.instance.events): string =>
  words[name] ?? name;

type Names = ReturnType<typeof useActivityNames>;

/** What a variable was changed to: its value after the burst, which keeps its values with its last line. */
function Changed({ instance, at, name }: { instance: string; at: number; name: string }) {
  const query = useQuery({
    queryKey: ["instance", instance, "state", at],
    queryFn: ({ signal }) =>
      get<Api["StateThen"]>(`/workflow-instances/${id(instance)}/state`, { at }, signal),
  });
  return (
    <>
      <dt className="text-soft">{visible(name)}</dt>
      <dd className="min-w-0">
        <Shown query={query} rows={1}>
          {(then) => <Value value={valueThen(then, name)} label={name} />}
        </Shown>
      </dd>
    </>
  );
}

interface LineProps extends Shared {
  entry: Entry;
  /** The last line of its burst. */
  last: number;
}

function Line({ entry, last, names, variables, onActivity }: LineProps) {
  const isWorkflow = entry.eventName === "Workflow";
  const isWhole = isWholeLine(entry);
  const word = isWhole ? t.instance.workflow : wordOf(entry, names);
  const type = typeName(entry.activityType);
  const state = stateOf(isWorkflow ? (entry.message ?? "") : entry.eventName);
  const facts = [...Object.entries(entry.activityState ?? {}), ...Object.entries(entry.outputs)];
  const [open, setOpen] = useState(false);
  const changed = changedVariable(entry);
  const about = aboutOf(entry, names, variables);
  return (
    <li className="border-b border-line/60 px-4 py-0.5 text-sm last:border-0">
      <div className="flex min-h-6 items-center gap-2">
        <span className="w-8 shrink-0 text-right font-mono text-xs text-soft tabular-nums">
          {entry.sequence}
        </span>
        <StateIcon state={state} still />
        <span className="w-24 shrink-0 truncate text-soft">
          {eventWord(isWorkflow ? (entry.message ?? "") : entry.eventName)}
        </span>
        {isWhole ? (
          <span className="font-medium">{word}</span>
        ) : (
          <button
            type="button"
            onClick={() => onActivity(entry.activityId)}
            className="min-h-6 min-w-0 truncate font-medium hover:underline"
          >
            {word}
          </button>
        )}
        <span className="min-w-0 flex-1 truncate text-xs text-soft">
          {isWhole || type === word ? "" : type}
          {!isWorkflow && entry.message && (
            <span className="ml-2 text-sm text-ink" title={entry.message}>
              {visible(about ? `${entry.message}: ${about}` : entry.message)}
            </span>
          )}
        </span>
        {(facts.length > 0 || changed !== undefined) && (
          <button
            type="button"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
            className="flex min-h-6 items-center gap-1 text-xs text-soft hover:text-ink"
          >
            {t.instance.facts}
            <Icon name={open ? "down" : "right"} size={12} />
          </button>
        )}
      </div>
      {open && (
        <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-3 gap-y-1 py-1 pl-[4.6rem] text-xs">
          {changed !== undefined && (
            <Changed instance={entry.workflowInstanceId} at={last} name={variables(changed)} />
          )}
          {facts.map(([name, value]) => (
            <Fragment key={name}>
              <dt className="text-soft">{visible(name)}</dt>
              <dd className="min-w-0">
                <Value value={value} label={name} />
              </dd>
            </Fragment>
          ))}
        </dl>
      )}
    </li>
  );
}

interface Shared {
  names: Names;
  /** What variables are called. */
  variables: (id: string) => string;
  onActivity: (activity: string) => void;
}

const isWholeLine = ({ eventName, activityId }: Entry) => eventName === "Workflow" || activityId === WHOLE;

const wordOf = (entry: Entry, names: Names): string =>
  names(entry.activityId, activityWord(entry.activityId, entry.activityName, entry.activityType));

/** What comes again, in words; the workflow itself is in every round. */
const roundOf = (round: readonly Entry[], names: Names) => {
  const words = new Map(
    round.map((one) => [one.activityId, isWholeLine(one) ? undefined : wordOf(one, names)]),
  );
  return namesOfRound(round, ({ activityId }) => words.get(activityId));
};

/** The lines of a burst; those of a loop are folded. */
function Lines({ of, ...shared }: Shared & { of: readonly Entry[] }) {
  const last = of.at(-1)?.sequence;
  const line = (entry: Entry) => (
    <Line key={entry.id} entry={entry} last={last ?? entry.sequence} {...shared} />
  );
  return (
    <ol>
      {fold(of, lineKey).map((part) =>
        "item" in part ? (
          line(part.item)
        ) : (
          <li key={part.items[0]?.id}>
            <Fold {...roundOf(part.round, shared.names)} rounds={part.rounds} count={part.items.length}>
              {() => <ol>{part.items.map(line)}</ol>}
            </Fold>
          </li>
        ),
      )}
    </ol>
  );
}

/** Bursts; a loop that waits in each round is folded. */
function Bursts({ of, isNumbered, ...shared }: Shared & { of: Entry[][]; isNumbered: boolean }) {
  const numbers = new Map(of.map((burst, at) => [burst, at + 1]));
  const section = (burst: Entry[]) => (
    <section key={burst[0]?.id}>
      <h2 className="sticky top-0 z-10 flex items-center gap-2 border-y border-line bg-sunken px-4 py-1 text-xs text-soft">
        {isNumbered && (
          <span className="font-medium text-ink">{t.instance.burst(numbers.get(burst) ?? 0)}</span>
        )}
        <Time at={burst[0]?.timestamp} exact />
        {burst.find((one) => one.node)?.node && (
          <span className="flex items-center gap-1">
            <Icon name="cluster" size={12} />
            {burst.find((one) => one.node)?.node}
          </span>
        )}
      </h2>
      <Lines of={burst} {...shared} />
    </section>
  );
  return fold(of, burstKey).map((part) =>
    "item" in part ? (
      section(part.item)
    ) : (
      <Fold
        key={part.items[0]?.[0]?.id}
        {...roundOf(part.round.flat(), shared.names)}
        rounds={part.rounds}
        count={part.items.flat().length}
        isWide
      >
        {() => part.items.map(section)}
      </Fold>
    ),
  );
}

interface Props {
  detail: Api["InstanceDetail"];
  activity?: string;
  /** The line up to which things have happened, on a travel in time. */
  at?: number;
  onActivity: (activity: string | undefined) => void;
}

/** The journal: what happened, burst by burst. With an activity, its lines alone. */
export function Story({ detail, activity, at, onActivity }: Props) {
  const names = useActivityNames(detail.definitionVersionId);
  const known = useQuery(variablesQuery(detail.id)).data?.items;
  const variables = (variable: string) => known?.find((one) => one.id === variable)?.name ?? variable;
  const query = useInfiniteQuery({
    queryKey: ["instance", detail.id, "journal", activity ?? ""],
    // What is pressed to choose an activity stays until the lines of that activity are there.
    placeholderData: keepPreviousData,
    initialPageParam: 0,
    queryFn: ({ pageParam }) =>
      post<Api["JournalPage"]>(`/workflow-instances/${id(detail.id)}/journal`, {
        skip: pageParam,
        take: PAGE,
        filter: activity ? { activityIds: [activity] } : undefined,
      }),
    getNextPageParam: (last, pages) => {
      const read = pages.reduce((sum, page) => sum + page.items.length, 0);
      return read < last.totalCount ? read : undefined;
    },
  });
  const { noLines, noLinesOf, noLinesThen, noLinesOfThen } = t.instance;
  const nothing = activity
    ? at === undefined
      ? noLinesOf
      : noLinesOfThen
    : at === undefined
      ? noLines
      : noLinesThen;
  return (
    <div>
      {activity && (
        <p className="flex items-center gap-2 border-b border-line bg-accent-soft px-4 py-1 text-sm">
          <span className="flex-1">{t.instance.onlyActivity(names(activity))}</span>
          <Button
            tone="quiet"
            icon="close"
            label={t.instance.allLines}
            onClick={() => onActivity(undefined)}
          />
        </p>
      )}
      <Shown query={query}>
        {(data) => {
          const read = data.pages.flatMap((page) => page.items);
          const entries = at === undefined ? read : read.filter((one) => one.sequence <= at);
          if (entries.length === 0) return <Empty title={nothing} />;
          return (
            <>
              <Bursts of={bursts(entries)} isNumbered={!activity} {...{ names, variables, onActivity }} />
              {query.hasNextPage && at === undefined && (
                <div className="p-3 text-center">
                  <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                    {t.instance.moreLines(data.pages.at(-1)?.totalCount ?? 0)}
                  </Button>
                </div>
              )}
            </>
          );
        }}
      </Shown>
    </div>
  );
}
