import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { withQuery } from "../../api/base";
import { get } from "../../api/client";
import type { Api } from "../../api/types";
import { pageOf, useAddress } from "../../app/address";
import { curl } from "../../lib/shell";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { CopyCommands } from "../../ui/Code";
import { Field, Select } from "../../ui/Field";
import { List } from "../../ui/List";
import { Badge } from "../../ui/State";
import type { Column } from "../../ui/Table";
import { Time } from "../../ui/Time";
import { askedOf, FILTERS, KINDS, namesOf, OUTCOMES } from "./asking";

const PAGE_SIZE = 50;

const TONES = { done: "good", refused: "bad", accepted: "plain" } as const;

const COLUMNS: Column<Api["AuditEntry"]>[] = [
  { key: "at", head: t.access.at, cell: (row) => <Time at={row.at} /> },
  { key: "who", head: t.access.who, cell: (row) => <span className="font-medium">{row.who}</span> },
  { key: "what", head: t.access.what, cell: (row) => row.what },
  {
    key: "target",
    head: t.access.target,
    cell: (row) => <code className="font-mono text-xs">{row.target}</code>,
  },
  {
    key: "outcome",
    head: t.access.outcome,
    cell: (row) => (
      <Badge tone={TONES[row.outcome as keyof typeof TONES] ?? "bad"}>
        {t.server[row.outcome] ?? row.outcome}
      </Badge>
    ),
  },
  { key: "address", head: t.cluster.address, cell: (row) => row.address ?? "–" },
  {
    key: "details",
    head: t.details,
    cell: (row) => (
      <code className="font-mono text-xs text-soft">{row.details ? JSON.stringify(row.details) : ""}</code>
    ),
  },
];

/** What was changed, by whom, from where, and how it ended. */
export function Audit() {
  const [search, change] = useAddress();
  const page = pageOf(search);
  const { asked, wrong } = askedOf(search, Date.now());
  const isFiltered = [...FILTERS, "outcome"].some((name) => search[name] && !wrong.includes(name));
  const query = useQuery({
    queryKey: ["audit", ...FILTERS.map((name) => search[name]), search.outcome, page],
    queryFn: async ({ signal }) => {
      const { asked } = askedOf(search, Date.now());
      let found: Api["Paged_AuditEntry"] | undefined;
      for (const who of namesOf(search.who)) {
        found = await get<Api["Paged_AuditEntry"]>(
          "/audit",
          { ...asked, who, page, pageSize: PAGE_SIZE },
          signal,
        );
        if (found.totalCount > 0) break;
      }
      return found ?? { items: [], totalCount: 0 };
    },
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <form
        className="flex flex-wrap items-end gap-2 border-b border-line px-4 py-2"
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          const read = (name: string) => String(form.get(name) ?? "").trim() || undefined;
          change({
            who: read("who"),
            what: read("what"),
            target: read("target"),
            from: read("from"),
            until: read("until"),
            outcome: read("outcome"),
            page: undefined,
          });
        }}
      >
        {FILTERS.map((name) => (
          <Field
            key={`${name}${search[name] ?? ""}`}
            className="w-44"
            label={t.access.filters[name]}
            name={name}
            defaultValue={search[name] ?? ""}
            error={wrong.includes(name) ? t.filters.timeError : undefined}
            aria-invalid={wrong.includes(name)}
          />
        ))}
        <Select
          key={`outcome${search.outcome ?? ""}`}
          className="w-44"
          label={t.access.outcome}
          name="outcome"
          defaultValue={wrong.includes("outcome") ? "" : (search.outcome ?? "")}
          options={[
            ["", t.access.anyOutcome],
            ...OUTCOMES.map((outcome) => [outcome, t.server[outcome] ?? outcome] as const),
          ]}
        />
        <Button type="submit">{t.filters.apply}</Button>
      </form>
      {wrong.length > 0 && (
        <p role="status" className="border-b border-line px-4 py-1.5 text-sm text-waiting">
          {t.filters.ignored(wrong.map((name) => `${name}=${search[name] ?? ""}`).join(", "))}
        </p>
      )}
      <List
        query={query}
        rows={({ items }) => items}
        paged={{ total: ({ totalCount }) => totalCount, size: PAGE_SIZE }}
        empty={isFiltered ? t.access.nothingMatches : t.access.noAudit}
        emptyHint={search.who ? t.access.whoHint(KINDS.join(", ")) : undefined}
        label={t.access.audit}
        columns={COLUMNS}
        rowKey={(row) => `${row.at}${row.what}${row.target}`}
      />
      <div className="px-4 py-2">
        <CopyCommands commands={{ curl: curl(withQuery("/audit", { ...asked, who: search.who })) }} />
      </div>
    </>
  );
}
