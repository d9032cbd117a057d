import { queryOptions, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { get, id } from "../../api/client";
import type { Api } from "../../api/types";
import { activitiesIn, titlesOf } from "../../graph/activities";
import { useTypeWords } from "../../graph/words";
import { activityWord, formatCount, formatDuration } from "../../lib/format";
import { language, t } from "../../text";
import { List } from "../../ui/List";
import { Spark } from "../../ui/Spark";
import { Badge } from "../../ui/State";
import type { Column } from "../../ui/Table";

const number = (value: number) => formatCount(value, language);
const duration = (ms: number | null | undefined) => (typeof ms === "number" ? formatDuration(ms) : "–");

/** What the activities of a definition did in the last hour. */
export const figuresQuery = (definition: string) =>
  queryOptions({
    queryKey: ["definition", definition, "figures"],
    queryFn: ({ signal }) =>
      get<Api["ActivityFigures"]>(`/workflow-definitions/${id(definition)}/figures`, undefined, signal),
    refetchInterval: 30_000,
  });

/** Each activity with its figures; a press selects it in the graph. */
export function LastHour({
  definition,
  root,
  activity,
  onActivity,
}: {
  definition: string;
  root: unknown;
  activity?: string;
  onActivity: (activity: string) => void;
}) {
  const query = useQuery(figuresQuery(definition));
  const words = useTypeWords();
  const titles = useMemo(() => titlesOf(activitiesIn(root), words), [root, words]);
  const nameIn = ({ activityId, activityType }: Api["FiguresOfActivity"]) =>
    titles.get(activityId) ?? activityWord(activityId, undefined, activityType);
  const columns: Column<Api["FiguresOfActivity"]>[] = [
    {
      key: "activity",
      head: t.messages.activity,
      cell: (row) => (
        <button
          type="button"
          className="link text-accent"
          title={row.activityId}
          onClick={() => onActivity(row.activityId)}
        >
          {nameIn(row)}
        </button>
      ),
    },
    {
      key: "spark",
      head: t.hour.starts,
      cell: (row) => <Spark counts={row.startedParts} className="h-4 w-20 text-accent" />,
    },
    { key: "started", head: t.hour.started, end: true, cell: (row) => number(row.started) },
    { key: "completed", head: t.hour.completed, end: true, cell: (row) => number(row.completed) },
    {
      key: "faulted",
      head: t.hour.faulted,
      end: true,
      cell: (row) => (row.faulted > 0 ? <Badge tone="bad">{number(row.faulted)}</Badge> : "0"),
    },
    { key: "running", head: t.hour.running, end: true, cell: (row) => number(row.running) },
    { key: "p50", head: t.hour.half, end: true, cell: (row) => duration(row.p50Ms) },
    { key: "p95", head: t.hour.most, end: true, cell: (row) => duration(row.p95Ms) },
  ];
  return (
    <>
      {query.data?.isCutShort && (
        <p className="border-b border-line px-4 py-2 text-sm text-waiting">
          {t.hour.cutShort(number(query.data.instancesRead), number(query.data.instancesChanged))}
        </p>
      )}
      <List
        query={query}
        rows={({ items }) => items}
        empty={t.hour.nothing}
        label={t.hour.title}
        columns={columns}
        rowKey={(row) => row.activityNodeId}
        current={query.data?.items.find((row) => row.activityId === activity)?.activityNodeId}
      />
    </>
  );
}
