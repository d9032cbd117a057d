import type { ReactNode } from "react";
import { t } from "../text";

export interface Column<T> {
  key: string;
  head: ReactNode;
  cell: (row: T) => ReactNode;
  /** Numbers stand at the right. */
  end?: boolean;
  className?: string;
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

/** A table with rows of 32 px. Its head stays while one scrolls. */
export function Table<T>({ label, columns, rows, rowKey, selected, onSelect, current }: TableProps<T>) {
  const all = rows.length > 0 && rows.every((row) => selected?.has(rowKey(row)));
  const toggle = (keys: string[], on: boolean) => {
    const next = new Set(selected);
    for (const key of keys) on ? next.add(key) : next.delete(key);
    onSelect?.(next);
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard
    <section className="relative overflow-x-auto" aria-label={label} tabIndex={0}>
      <table className="w-full border-collapse text-sm">
        <caption className="sr-only">{label}</caption>
        <thead>
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
                className={`h-8 px-3 font-medium whitespace-nowrap ${column.end ? "text-right" : ""}`}
              >
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const key = rowKey(row);
            return (
              <tr
                key={key}
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
                    className={`max-w-96 truncate px-3 py-1 ${column.end ? "text-right tabular-nums" : ""} ${column.className ?? ""}`}
                  >
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
