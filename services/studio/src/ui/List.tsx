import type { ReactNode } from "react";
import { usePage } from "../app/address";
import { Field } from "./Field";
import { Pager } from "./Pager";
import { Empty, type QueryLike, Shown } from "./States";
import { Table, type TableProps } from "./Table";

interface Props<D, T> extends Omit<TableProps<T>, "rows"> {
  query: QueryLike<D>;
  rows: (data: D) => readonly T[];
  /** How many there are in all, and how many a page has. Without it, the answer is the whole list. */
  paged?: { total: (data: D) => number; size: number };
  empty: string;
  emptyHint?: ReactNode;
  /** What can be done with the chosen rows, or with all. */
  bar?: ReactNode;
}

/** A list as every page has it: loading, failed, empty, or its rows with what can be done and its pages. */
export function List<D, T>({ query, rows, paged, empty, emptyHint, bar, ...table }: Props<D, T>) {
  return (
    <Shown query={query} rows={10}>
      {(data) => {
        const shown = rows(data);
        const total = paged?.total(data) ?? shown.length;
        if (total === 0) return <Empty title={empty}>{emptyHint}</Empty>;
        return (
          <>
            {bar}
            <Table {...table} rows={shown} />
            {paged && <Pages total={total} size={paged.size} />}
          </>
        );
      }}
    </Shown>
  );
}

/** The foot of a list whose page stands in the address. */
export function Pages({ total, size }: { total: number; size: number }) {
  const [page, turn] = usePage();
  return (
    <div className="flex justify-end border-t border-line px-3 py-1">
      <Pager page={page} pageSize={size} total={total} onPage={turn} />
    </div>
  );
}

/** Searches a list when one presses Enter. */
export function SearchField({
  label,
  value,
  hint,
  className,
  onSearch,
}: {
  label: string;
  value: string;
  hint?: string;
  className?: string;
  onSearch: (text: string | undefined) => void;
}) {
  return (
    <form
      className={className}
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(String(new FormData(event.currentTarget).get("q") ?? "").trim() || undefined);
      }}
    >
      <Field
        key={value}
        label={label}
        hideLabel
        name="q"
        type="search"
        defaultValue={value}
        placeholder={hint}
      />
    </form>
  );
}
