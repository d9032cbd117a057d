import type { ReactNode } from "react";
import { visible } from "../lib/visible";
import { t } from "../text";

export interface Column<T> {
  key: string;
  head: ReactNode;
  cell: (row: T) => ReactNode;
  /** Numbers stand at the right. */
  end?: boolean;
  className?: string;
  /** It is left out where the window is narrow; the panel of the row has it, too. */
  isExtra?: boolean;
  /** How wide it is where the table is virtual, as a class; without one, it takes what is left. */
  width?: string;
}

export interface TableProps<T> {
  label: string;
  columns: Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string;
  selected?: ReadonlySet<string>;
  onSelect?: (keys: ReadonlySet<string>) => void;
  /** The row whose panel is open. */
  current?: string;
}

const EXTRA = "max-xl:hidden";

/** Chooses rows, and lets go of them. */
function choice<T>({ selected, onSelect }: Pick<TableProps<T>, "selected" | "onSelect">) {
  return (keys: string[], on: boolean) => {
    const next = new Set(selected);
    for (const key of keys) on ? next.add(key) : next.delete(key);
    onSelect?.(next);
  };
}

/** The head of a table; its box chooses all rows that are there. */
export function Head<T>({ columns, rows, rowKey, selected, onSelect }: Omit<TableProps<T>, "label">) {
  const all = rows.length > 0 && rows.every((row) => selected?.has(rowKey(row)));
  const toggle = choice({ selected, onSelect });
  return (
    <tr className="border-b border-line text-left text-xs text-soft">
      {onSelect && (
        <th className="w-8 pl-3">
          <input
            type="checkbox"
            aria-label={t.selectAll}
            checked={all}
            onChange={(event) => toggle(rows.map(rowKey), event.target.checked)}
            className="size-4 align-middle accent-(--accent)"
          />
        </th>
      )}
      {columns.map((column) => (
        <th
          key={column.key}
          scope="col"
          title={typeof column.head === "string" ? column.head : undefined}
          className={`h-8 truncate px-3 font-medium ${column.end ? "text-right" : ""} ${column.width ?? ""} ${column.isExtra ? EXTRA : ""}`}
        >
          {column.head}
        </th>
      ))}
    </tr>
  );
}

const shown = (cell: ReactNode) => (typeof cell === "string" ? visible(cell) : cell);

type RowProps<T> = Omit<TableProps<T>, "label" | "rows"> & { row: T; "aria-rowindex"?: number };

/** A row of a table, 2 rem high: 32 px with the text of a browser as it comes. */
export function Row<T>({ row, columns, rowKey, selected, onSelect, current, ...rest }: RowProps<T>) {
  const key = rowKey(row);
  const toggle = choice({ selected, onSelect });
  return (
    <tr
      {...rest}
      aria-selected={onSelect ? selected?.has(key) : undefined}
      className={`h-8 border-b border-line last:border-0 hover:bg-sunken/60 ${selected?.has(key) || current === key ? "bg-accent-soft" : ""}`}
    >
      {onSelect && (
        <td className="pl-3">
          <input
            type="checkbox"
            aria-label={t.selectRow(key)}
            checked={selected?.has(key) ?? false}
            onChange={(event) => toggle([key], event.target.checked)}
            className="size-4 align-middle accent-(--accent)"
          />
        </td>
      )}
      {columns.map((column) => (
        <td
          key={column.key}
          className={`max-w-96 truncate px-3 py-1 ${column.end ? "text-right tabular-nums" : ""} ${column.className ?? ""} ${column.isExtra ? EXTRA : ""}`}
        >
          {shown(column.cell(row))}
        </td>
      ))}
    </tr>
  );
}

/** A table with all its rows. */
export function Table<T>({ label, rows, ...table }: TableProps<T>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard
    <section className="relative overflow-x-auto" aria-label={label} tabIndex={0}>
      <table className="w-full border-collapse text-sm">
        <caption className="sr-only">{label}</caption>
        <thead>
          <Head {...table} rows={rows} />
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={table.rowKey(row)} {...table} row={row} />
          ))}
        </tbody>
      </table>
    </section>
  );
}
