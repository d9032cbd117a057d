import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { get, id, post } from "../../api/client";
import type { Api } from "../../api/types";
import { formatCount } from "../../lib/format";
import { visible } from "../../lib/visible";
import { language, t } from "../../text";
import { Button } from "../../ui/Button";
import { Field } from "../../ui/Field";
import { StateBadge } from "../../ui/State";
import { Shown } from "../../ui/States";
import { type Column, Table } from "../../ui/Table";
import { Time } from "../../ui/Time";
import { Value } from "../../ui/Value";
import { type Difference, type Moved, movesOf, outputDifferences, variableDifferences } from "./comparing";
import { LINES_MAX } from "./marks";
import { useActivityNames } from "./names";

const stateQuery = (instance: string, at: number) => ({
  queryKey: ["instance", instance, "state", at],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    get<Api["StateThen"]>(`/workflow-instances/${id(instance)}/state`, { at }, signal),
});

/** A part of the comparison: what it is about, and what differs, or that nothing does. */
function Part<T>({
  title,
  note,
  rows,
  columns,
  rowKey,
}: {
  title: string;
  note?: string;
  rows: readonly T[];
  columns: Column<T>[];
  rowKey: (row: T) => string;
}) {
  return (
    <section>
      <h2 className="border-y border-line bg-sunken px-4 py-1 text-xs font-medium text-soft">{title}</h2>
      {note && <p className="px-4 pt-2 text-sm text-soft">{note}</p>}
      {rows.length === 0 ? (
        <p className="px-4 py-2 text-sm text-soft">{t.comparing.same}</p>
      ) : (
        <Table label={title} columns={columns} rows={rows} rowKey={rowKey} />
      )}
    </section>
  );
}

const WRAP = "!whitespace-normal align-top";

/** The columns of both points, for values that differ. */
function valueColumns(nameOf: (row: Difference) => string): Column<Difference>[] {
  const value = (row: Difference, side: "before" | "after") =>
    row[side] === undefined ? (
      <span className="text-soft">{t.comparing.absent}</span>
    ) : (
      <Value value={row[side]} label={`${nameOf(row)}, ${t.comparing[side]}`} />
    );
  return [
    { key: "name", head: t.columns.name, className: WRAP, cell: nameOf },
    { key: "before", head: t.comparing.before, className: WRAP, cell: (row) => value(row, "before") },
    { key: "after", head: t.comparing.after, className: WRAP, cell: (row) => value(row, "after") },
  ];
}

function Mark({ of }: { of: Moved["before"] }) {
  if (!of) return <span className="text-soft">{t.comparing.notBegun}</span>;
  return (
    <span className="inline-flex flex-wrap items-baseline gap-x-2">
      <StateBadge status={of.status} />
      {of.runs > 1 && <span className="text-xs text-soft">{t.comparing.runs(of.runs)}</span>}
    </span>
  );
}

/** One of both points: its line, which can be another one, and its time. */
function Point({
  label,
  line,
  last,
  time,
  onChange,
}: {
  label: string;
  line: number;
  last: number;
  time?: string | null;
  onChange: (line: number) => void;
}) {
  return (
    <div className="flex items-end gap-2">
      <Field
        className="w-28"
        label={label}
        type="number"
        min={1}
        max={last}
        value={line}
        onChange={(event) => {
          const next = event.target.valueAsNumber;
          if (Number.isInteger(next) && next >= 1 && next <= last) onChange(next);
        }}
      />
      <span className="pb-1.5 text-xs text-soft">
        <Time at={time} exact />
      </span>
    </div>
  );
}

interface Props {
  detail: Api["InstanceDetail"];
  /** The two lines of the journal after which it is compared, the earlier one first. */
  points: readonly [number, number];
  onChange: (points: readonly [number, number]) => void;
  onClose: () => void;
}

/** What differs from one point of an instance to another: variables, outputs, and how far activities are. */
export function Compare({ detail, points: [from, to], onChange, onClose }: Props) {
  const last = detail.workflowState.executionLogSequence;
  const names = useActivityNames(detail.definitionVersionId);
  const before = useQuery({ ...stateQuery(detail.id, from), placeholderData: keepPreviousData });
  const after = useQuery({ ...stateQuery(detail.id, to), placeholderData: keepPreviousData });
  const isShort = to <= LINES_MAX;
  const lines = useQuery({
    queryKey: ["instance", detail.id, "lines", to],
    enabled: isShort,
    placeholderData: keepPreviousData,
    queryFn: () =>
      post<Api["JournalPage"]>(`/workflow-instances/${id(detail.id)}/journal`, { skip: 0, take: to }),
  });
  const nameOf = ({ name, activity }: Difference) =>
    activity === undefined ? visible(name) : `${names(activity)}: ${visible(name)}`;
  const keyOf = (row: Difference) => `${row.activity ?? ""} ${row.name} ${JSON.stringify(row.after) ?? ""}`;
  const columns = valueColumns(nameOf);
  return (
    <div>
      <div className="flex flex-wrap items-end gap-x-6 gap-y-2 px-4 py-3">
        <Point
          label={t.comparing.fromLine}
          line={from}
          last={last}
          time={before.data?.timestamp}
          onChange={(line) => onChange([line, to])}
        />
        <Point
          label={t.comparing.toLine}
          line={to}
          last={last}
          time={after.data?.timestamp}
          onChange={(line) => onChange([from, line])}
        />
        <Button className="ml-auto" icon="close" onClick={onClose}>
          {t.comparing.end}
        </Button>
      </div>
      <Shown query={before} rows={3}>
        {(was) => (
          <Shown query={after} rows={3}>
            {(is) => (
              <Part
                title={t.instance.variables}
                note={
                  was.variablesAt < was.at || is.variablesAt < is.at
                    ? t.comparing.variablesAt(was.variablesAt, is.variablesAt)
                    : undefined
                }
                rows={variableDifferences(was, is)}
                columns={columns}
                rowKey={keyOf}
              />
            )}
          </Shown>
        )}
      </Shown>
      {!isShort && (
        <p className="px-4 py-3 text-sm text-soft">{t.comparing.tooLong(formatCount(LINES_MAX, language))}</p>
      )}
      {isShort && (
        <Shown query={lines} rows={3}>
          {({ items }) => (
            <>
              <Part
                title={t.comparing.outputs}
                rows={outputDifferences(items, from, to)}
                columns={columns}
                rowKey={keyOf}
              />
              <Part
                title={t.comparing.activities}
                rows={movesOf(items, from, to)}
                rowKey={({ activity }) => activity}
                columns={[
                  { key: "name", head: t.messages.activity, cell: (row) => names(row.activity) },
                  { key: "before", head: t.comparing.before, cell: (row) => <Mark of={row.before} /> },
                  { key: "after", head: t.comparing.after, cell: (row) => <Mark of={row.after} /> },
                ]}
              />
            </>
          )}
        </Shown>
      )}
    </div>
  );
}
