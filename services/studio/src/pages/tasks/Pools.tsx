import { useQuery } from "@tanstack/react-query";
import { formatCount } from "../../lib/format";
import { language, t } from "../../text";
import { List } from "../../ui/List";
import { Badge } from "../../ui/State";
import type { Column } from "../../ui/Table";
import { Time } from "../../ui/Time";
import { type Counted, isUntaken, labelOf, poolsQuery, useCounted } from "./queries";

const number = (value: number) => formatCount(value, language);

/** Whether somebody works at it, as far as the broker can see it. */
export function Work({ of }: { of: Counted }) {
  const { inProgress, asking, isAsking } = of;
  if (inProgress > 0) return <Badge tone="good">{t.tasks.works}</Badge>;
  if (asking > 0) return <Badge tone="good">{t.tasks.ready}</Badge>;
  if (isAsking) return null;
  return isUntaken(of) ? <Badge tone="bad">{t.tasks.nobody}</Badge> : <Badge>{t.tasks.idle}</Badge>;
}

/** How many tasks wait, and how many messages of tasks that are done wait beside them. */
export function Waiting({ of: { waiting, done } }: { of: Counted }) {
  if (done === 0) return number(waiting);
  const said = t.tasks.doneOf(number(waiting + done), number(done));
  return (
    <>
      {number(waiting)}{" "}
      <span className="text-soft" title={said}>
        {t.tasks.done(number(done))}
      </span>
    </>
  );
}

/** A name of a list that opens its panel. */
export function Opener({ label, onOpen }: { label: string; onOpen: (label: string) => void }) {
  return (
    <button type="button" className="link font-medium text-accent" onClick={() => onOpen(label)}>
      {label}
    </button>
  );
}

/** What there is to do for each type and version of tasks. */
export function Pools({ current, onOpen }: { current?: string; onOpen: (label: string) => void }) {
  const query = useQuery(poolsQuery);
  const counted = useCounted(query.data?.items ?? []);
  const columns: Column<Counted>[] = [
    {
      key: "type",
      head: t.tasks.type,
      cell: (row) => <Opener label={labelOf(row.taskType, row.version)} onOpen={onOpen} />,
    },
    { key: "work", head: t.tasks.work, cell: (row) => <Work of={row} /> },
    { key: "waiting", head: t.tasks.waiting, end: true, cell: (row) => <Waiting of={row} /> },
    { key: "progress", head: t.tasks.inProgress, end: true, cell: (row) => number(row.inProgress) },
    {
      key: "again",
      head: t.tasks.redelivered,
      end: true,
      cell: (row) => (row.redelivered > 0 ? <Badge tone="warn">{number(row.redelivered)}</Badge> : "0"),
    },
    { key: "asking", head: t.tasks.asking, end: true, cell: (row) => number(row.asking) },
    { key: "oldest", head: t.tasks.oldest, cell: (row) => <Time at={row.oldest} /> },
    { key: "since", head: t.tasks.waitingSince, cell: (row) => <Time at={row.oldestWaiting} /> },
  ];
  return (
    <List
      query={query}
      rows={() => counted}
      empty={t.tasks.noPools}
      emptyHint={t.tasks.noPoolsHint}
      label={t.tasks.pools}
      columns={columns}
      rowKey={(row) => labelOf(row.taskType, row.version)}
      current={current}
    />
  );
}
