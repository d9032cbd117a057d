import { skipToken, useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { definitionQuery } from "../../api/queries";
import { can } from "../../api/session";
import {
  beginningsOf,
  comparisonOf,
  type InstanceFilter,
  timeOf,
  valueText,
  versionOf,
} from "../../lib/filters";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Field, Select } from "../../ui/Field";
import { Icon } from "../../ui/Icon";
import { SearchField } from "../../ui/List";
import { useDefinitionNames } from "./names";

type Change = (part: Partial<InstanceFilter>) => void;

const SINCE = ["", "15m", "1h", "24h", "7d", "30d"] as const;

function Chip({ word, onRemove }: { word: string; onRemove: () => void }) {
  return (
    <button
      type="button"
      aria-label={t.filters.remove(word)}
      onClick={onRemove}
      className="inline-flex h-6 items-center gap-1 rounded-sm border border-accent bg-accent-soft pr-1 pl-2 text-xs"
    >
      {word}
      <Icon name="close" size={12} />
    </button>
  );
}

function chips(filter: InstanceFilter): [string, Partial<InstanceFilter>][] {
  const all: [string, Partial<InstanceFilter>][] = [];
  if (filter.text) all.push([`${t.filters.text}: ${filter.text}`, { text: undefined }]);
  if (filter.version !== undefined)
    all.push([`${t.filters.version}: ${filter.version}`, { version: undefined }]);
  if (filter.correlation)
    all.push([`${t.filters.correlation}: ${filter.correlation}`, { correlation: undefined }]);
  if (filter.name) all.push([`${t.filters.name}: ${filter.name}`, { name: undefined }]);
  if (filter.parent) all.push([`${t.filters.parent}: ${filter.parent}`, { parent: undefined }]);
  if (filter.since) all.push([`${t.filters.times[filter.time]} ≥ ${filter.since}`, { since: undefined }]);
  if (filter.until) all.push([`${t.filters.times[filter.time]} ≤ ${filter.until}`, { until: undefined }]);
  for (const value of filter.values) {
    all.push([valueText(value), { values: filter.values.filter((one) => one !== value) }]);
  }
  return all;
}

/** Takes a filter when one presses Enter or leaves the box. */
function Taken({
  label,
  value,
  hint,
  offers = [],
  onTake,
}: {
  label: string;
  value: string;
  hint?: string;
  /** How what is typed may begin. */
  offers?: readonly string[];
  onTake: (text: string) => string | undefined;
}) {
  const [error, setError] = useState<string>();
  const list = useId();
  return (
    <>
      <Field
        key={value}
        label={label}
        list={offers.length > 0 ? list : undefined}
        defaultValue={value}
        placeholder={hint}
        error={error}
        onKeyDown={(event) => {
          if (event.key === "Enter") event.currentTarget.blur();
        }}
        onBlur={(event) => {
          const text = event.currentTarget.value.trim();
          setError(text === value ? undefined : onTake(text));
        }}
      />
      {offers.length > 0 && (
        <datalist id={list}>
          {offers.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </>
  );
}

/** How comparisons with values of the chosen definition begin: its published version says what can be searched. */
function useBeginnings(definition: string | undefined): readonly string[] {
  const mayRead = definition !== undefined && can("read:workflow-definitions");
  const { queryFn, ...asked } = definitionQuery(definition ?? "", "Published");
  const { data } = useQuery({ ...asked, queryFn: mayRead ? queryFn : skipToken, staleTime: 60_000 });
  return beginningsOf(data?.variables ?? []);
}

function More({ filter, onChange }: { filter: InstanceFilter; onChange: Change }) {
  const beginnings = useBeginnings(filter.definition);
  const time = (text: string) => !text || timeOf(text, Date.now()) !== undefined;
  return (
    <div className="grid gap-3 rounded-md border border-line bg-raised p-3 sm:grid-cols-2 lg:grid-cols-4">
      <Taken
        label={t.filters.name}
        value={filter.name ?? ""}
        hint={t.filters.wholeHint}
        onTake={(name) => void onChange({ name: name || undefined })}
      />
      <Taken
        label={t.filters.correlation}
        value={filter.correlation ?? ""}
        hint={t.filters.wholeHint}
        onTake={(text) => void onChange({ correlation: text || undefined })}
      />
      <Taken
        label={t.filters.parent}
        value={filter.parent ?? ""}
        hint={t.filters.parentHint}
        onTake={(text) => void onChange({ parent: text || undefined })}
      />
      <Taken
        label={t.filters.version}
        value={filter.version?.toString() ?? ""}
        onTake={(text) => {
          if (text && versionOf(text) === undefined) return t.filters.versionError;
          onChange({ version: versionOf(text) });
        }}
      />
      <Taken
        label={t.filters.value}
        value=""
        hint="Amount>=100"
        offers={beginnings}
        onTake={(text) => {
          const value = comparisonOf(text);
          if (!value) return t.filters.valueError;
          onChange({ values: [...filter.values, value] });
        }}
      />
      <Select
        label={t.filters.column}
        value={filter.time}
        options={[
          ["CreatedAt", t.filters.times.CreatedAt],
          ["UpdatedAt", t.filters.times.UpdatedAt],
          ["FinishedAt", t.filters.times.FinishedAt],
        ]}
        onChange={(event) => onChange({ time: event.target.value as InstanceFilter["time"] })}
      />
      <Taken
        label={t.filters.since}
        value={filter.since ?? ""}
        hint="2h, 2026-11-25T09:00Z"
        onTake={(text) => {
          if (!time(text)) return t.filters.timeError;
          onChange({ since: text || undefined });
        }}
      />
      <Taken
        label={t.filters.until}
        value={filter.until ?? ""}
        hint="1h, 2026-11-25T10:00Z"
        onTake={(text) => {
          if (!time(text)) return t.filters.timeError;
          onChange({ until: text || undefined });
        }}
      />
    </div>
  );
}

/** All filters; each stands in the address, and can be removed by itself. */
export function Filters({ filter, onChange }: { filter: InstanceFilter; onChange: Change }) {
  const [more, setMore] = useState(false);
  const names = [...useDefinitionNames()];
  const shown = chips(filter);
  const known = !filter.definition || names.some(([id]) => id === filter.definition);
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap items-end gap-2">
        <SearchField
          className="min-w-56 flex-1"
          label={t.filters.text}
          value={filter.text ?? ""}
          hint={t.filters.textHint}
          onSearch={(text) => onChange({ text })}
        />
        <Select
          className="w-56 max-sm:w-full"
          label={t.filters.definition}
          hideLabel
          value={filter.definition ?? ""}
          options={[
            ["", t.filters.anyDefinition],
            ...(known ? [] : [[filter.definition ?? "", filter.definition ?? ""] as const]),
            ...names,
          ]}
          onChange={(event) => onChange({ definition: event.target.value || undefined })}
        />
        <Select
          className="w-40 max-sm:flex-1"
          label={t.filters.since}
          hideLabel
          value={SINCE.some((one) => one === filter.since) ? filter.since : ""}
          options={SINCE.map((span) => [span, t.filters.spans[span]] as const)}
          onChange={(event) => onChange({ since: event.target.value || undefined })}
        />
        <Select
          className="w-56 max-sm:w-full"
          label={t.filters.incidents}
          hideLabel
          value={filter.incidents === undefined ? "" : filter.incidents ? "yes" : "no"}
          options={[
            ["", t.filters.anyIncidents],
            ["yes", t.filters.withIncidents],
            ["no", t.filters.withoutIncidents],
          ]}
          onChange={(event) =>
            onChange({ incidents: event.target.value ? event.target.value === "yes" : undefined })
          }
        />
        <Button aria-expanded={more} onClick={() => setMore(!more)}>
          {t.filters.more}
        </Button>
      </div>
      {more && <More filter={filter} onChange={onChange} />}
      {shown.length > 0 && (
        <div className="flex flex-wrap items-center gap-1.5">
          {shown.map(([word, without]) => (
            <Chip key={word} word={word} onRemove={() => onChange(without)} />
          ))}
        </div>
      )}
    </div>
  );
}
