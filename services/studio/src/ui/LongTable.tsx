import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import { useSettings } from "../app/settings";
import { formatCount } from "../lib/format";
import { rem } from "../lib/rem";
import { t } from "../text";
import { Button } from "./Button";
import { Head, Row, type TableProps } from "./Table";

/** What a browser can scroll through is bounded: a longer list has several stretches of this length. */
export const ROWS_MAX = 500_000;
const AHEAD = 12;

/** The height of a row with its line, in pixels: it grows with the text. */
const rowHeight = () => 2 * rem() + 1;

interface Props<T> extends Omit<TableProps<T>, "rows"> {
  /** How many rows there are in all. */
  count: number;
  /** There are more than that. */
  isMore?: boolean;
  /** A row, once it is there. */
  rowAt: (at: number) => T | undefined;
  /** The rows that are there. */
  loaded: readonly T[];
  /** The row that is at the top when the table opens. */
  first: number;
  /** Called with the rows that are seen, and those a little before and after them. */
  onRange: (first: number, last: number) => void;
  /** Called when one stops scrolling. */
  onRest: (first: number) => void;
  /** Called with the row at which another stretch begins. */
  onStretch: (first: number) => void;
}

/** A table of any length: only the rows that are seen are drawn. */
export function LongTable<T>(props: Props<T>) {
  const { label, count, isMore, rowAt, loaded, first, onRange, onRest, onStretch, ...table } = props;
  const { language } = useSettings();
  const box = useRef<HTMLElement>(null);
  const [high] = useState(rowHeight);
  const base = first - (first % ROWS_MAX);
  const rows = Math.max(0, Math.min(count - base, ROWS_MAX));
  const virtual = useVirtualizer({
    count: rows,
    getScrollElement: () => box.current,
    estimateSize: () => high,
    overscan: AHEAD,
    initialOffset: (first - base) * high,
    useAnimationFrameWithResizeObserver: true,
  });
  const items = virtual.getVirtualItems();
  const from = base + (items[0]?.index ?? 0);
  const to = base + (items.at(-1)?.index ?? 0);
  useEffect(() => onRange(from, to), [from, to, onRange]);
  const top = base + Math.min(Math.max(0, rows - 1), Math.floor((virtual.scrollOffset ?? 0) / high));
  const isResting = !virtual.isScrolling;
  useEffect(() => {
    if (isResting) onRest(top);
  }, [isResting, top, onRest]);
  // Where the table needs not scroll, all rows are seen.
  const isWhole = box.current !== null && box.current.scrollHeight <= box.current.clientHeight;
  const seen = isWhole ? count : Math.max(1, Math.floor((virtual.scrollRect?.height ?? 0) / high) - 1);
  const number = (value: number) => formatCount(value, language);
  const width = table.columns.length + (table.onSelect ? 1 : 0);
  return (
    <>
      <section
        ref={box}
        className="relative max-h-[calc(100vh-17rem)] min-h-24 overflow-auto"
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard
        tabIndex={0}
      >
        <table aria-rowcount={count + 1} className="w-full min-w-[72rem] table-fixed border-collapse text-sm">
          <caption className="sr-only">{label}</caption>
          <thead className="sticky top-0 z-1 bg-raised">
            <Head {...table} rows={loaded} />
          </thead>
          <tbody>
            <Space height={items[0]?.start ?? 0} width={width} />
            {items.map(({ index }) => {
              const row = rowAt(base + index);
              return row ? (
                <Row key={index} {...table} row={row} aria-rowindex={base + index + 2} />
              ) : (
                <tr key={index} aria-rowindex={base + index + 2} className="h-8 border-b border-line">
                  <td colSpan={width} className="px-3 py-1">
                    <div className="skeleton h-5" />
                  </td>
                </tr>
              );
            })}
            <Space height={virtual.getTotalSize() - (items.at(-1)?.end ?? 0)} width={width} />
          </tbody>
        </table>
      </section>
      <div className="flex min-h-9 flex-wrap items-center justify-end gap-2 border-t border-line px-3 py-1 text-sm text-soft tabular-nums">
        {t.pageOf(
          number(Math.min(top + 1, count)),
          number(Math.min(top + seen, count)),
          `${number(count)}${isMore ? "+" : ""}`,
        )}
        {count > ROWS_MAX && (
          <fieldset aria-label={t.pages} className="flex">
            <Button
              tone="quiet"
              icon="left"
              label={t.stretchBefore(number(ROWS_MAX))}
              disabled={base === 0}
              onClick={() => onStretch(base - ROWS_MAX)}
            />
            <Button
              tone="quiet"
              icon="right"
              label={t.stretchAfter(number(ROWS_MAX))}
              disabled={base + rows >= count}
              onClick={() => onStretch(base + ROWS_MAX)}
            />
          </fieldset>
        )}
      </div>
    </>
  );
}

/** The place of the rows that are not drawn. */
function Space({ height, width }: { height: number; width: number }) {
  return height > 0 ? (
    <tr style={{ height }}>
      <td colSpan={width} />
    </tr>
  ) : null;
}
