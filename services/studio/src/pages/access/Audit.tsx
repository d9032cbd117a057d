import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { get } from "../../api/client";
import type { Api } from "../../api/types";
import { pageOf, useAddress } from "../../app/address";
import { timeOf } from "../../lib/filters";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Field } from "../../ui/Field";
import { List } from "../../ui/List";
import { Badge } from "../../ui/State";
import type { Column } from "../../ui/Table";
import { Time } from "../../ui/Time";

const PAGE_SIZE = 50;
const FILTERS = ["who", "what", "target", "from"] as const;

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
      <Badge tone={row.outcome === "done" ? "good" : "bad"}>{t.server[row.outcome] ?? row.outcome}</Badge>
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
  const asked = {
    who: search.who,
    what: search.what,
    target: search.target,
    from: search.from ? timeOf(search.from, Date.now()) : undefined,
  };
  const query = useQuery({
    queryKey: ["audit", search.who, search.what, search.target, search.from, page],
    queryFn: ({ signal }) =>
      get<Api["Paged_AuditEntry"]>("/audit", { ...asked, page, pageSize: PAGE_SIZE }, signal),
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
          />
        ))}
        <Button type="submit">{t.filters.apply}</Button>
      </form>
      <List
        query={query}
        rows={({ items }) => items}
        paged={{ total: ({ totalCount }) => totalCount, size: PAGE_SIZE }}
        empty={t.access.noAudit}
        label={t.access.audit}
        columns={COLUMNS}
        rowKey={(row) => `${row.at}${row.what}${row.target}`}
      />
    </>
  );
}
