import { type ReactNode, useEffect, useRef, useState } from "react";
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

const PAUSE = 300;

/** Searches a list when one presses Enter; a live one searches after a short pause in the typing, too. */
export function SearchField({
  label,
  value,
  hint,
  className,
  isLive,
  onSearch,
}: {
  label: string;
  value: string;
  hint?: string;
  className?: string;
  isLive?: boolean;
  onSearch: (text: string | undefined) => void;
}) {
  const [text, setText] = useState(value);
  const [seen, setSeen] = useState(value);
  const sent = useRef(value);
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(pause.current), []);
  // Another value than the one that was searched for comes from outside: from a link, or from a step back.
  if (value !== seen) {
    setSeen(value);
    if (value !== sent.current) {
      sent.current = value;
      setText(value);
    }
  }
  const search = (next: string) => {
    clearTimeout(pause.current);
    sent.current = next.trim();
    onSearch(sent.current || undefined);
  };
  return (
    <form
      className={className}
      onSubmit={(event) => {
        event.preventDefault();
        search(text);
      }}
    >
      <Field
        label={label}
        hideLabel
        name="q"
        type="search"
        value={text}
        placeholder={hint}
        onChange={(event) => {
          const next = event.target.value;
          setText(next);
          clearTimeout(pause.current);
          if (isLive) pause.current = setTimeout(() => search(next), PAUSE);
        }}
      />
    </form>
  );
}
