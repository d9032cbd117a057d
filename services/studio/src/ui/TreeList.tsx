import { type DragEvent, type KeyboardEvent, type ReactNode, useId } from "react";
import { dropAt, spansOf } from "../lib/order";
import { useReorder } from "./reorder";

/** A row may be let go this far outside of its list: half a row. */
const MARGIN = 14;

const indent = ({ depth }: { depth: number }) => 8 + depth * 14;

export interface TreeRow {
  key: string;
  depth: number;
  icon?: ReactNode;
  /** The place of the row in its owner, where it has a name. */
  place?: string;
  name: string;
  /** What stands at the end of the row. */
  note?: ReactNode;
  /** What a screen reader says of the row beyond its name; it begins with the words of the note. */
  about?: string;
  /** The list in which the row can be moved, with what is inside it. */
  list?: string;
}

interface Props {
  label: string;
  rows: readonly TreeRow[];
  selected: readonly string[];
  onShow: (row: TreeRow) => void;
  /** Moves a row by so many places of its list. */
  onMove?: (row: TreeRow, by: number) => void;
}

/** Where an arrow leads: up and down the rows, to the owner, to what is inside. */
function rowAfter(rows: readonly TreeRow[], at: number, key: string): TreeRow | undefined {
  const depth = rows[at]?.depth ?? 0;
  switch (key) {
    case "ArrowDown":
      return rows[at + 1];
    case "ArrowUp":
      return rows[at - 1];
    case "ArrowRight":
      return (rows[at + 1]?.depth ?? 0) > depth ? rows[at + 1] : undefined;
    case "ArrowLeft":
      return rows.slice(0, at).findLast((row) => row.depth < depth);
    case "Home":
      return rows[0];
    case "End":
      return rows.at(-1);
    default:
      return undefined;
  }
}

/** A tree as the keyboard expects it: one stop, arrows inside. */
export function TreeList({ label, rows, selected, onShow, onMove }: Props) {
  const base = useId();
  const dropOf = (event: DragEvent<HTMLElement>, key: string) => {
    const tree = event.currentTarget;
    const row = rows.find((one) => one.key === key);
    if (row?.list === undefined) return undefined;
    const spans = spansOf(rows, row.list);
    const x = indent(row);
    const boxes = spans.map(({ first, last }) => {
      const [from, to] = [first, last].map((at) => document.getElementById(base + rows[at]?.key));
      const y = from?.offsetTop ?? 0;
      const height = (to?.offsetTop ?? y) + (to?.offsetHeight ?? 0) - y;
      return { x, y, width: Math.max(0, tree.clientWidth - x), height };
    });
    const from = spans.findIndex(({ first }) => rows[first] === row);
    const y = event.clientY - tree.getBoundingClientRect().top + tree.scrollTop;
    return dropAt(boxes, from, { x, y }, { isDown: true, margin: MARGIN, pad: 0 });
  };
  const order = useReorder(
    dropOf,
    onMove &&
      ((key, by) => {
        const row = rows.find((one) => one.key === key);
        if (row) onMove(row, by);
      }),
  );
  const current = rows.find((row) => selected.includes(row.key))?.key ?? rows[0]?.key;
  const press = (event: KeyboardEvent<HTMLElement>, at: number) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const row = rows[at];
    const isChoice = event.key === "Enter" || event.key === " ";
    if (isChoice && row && !selected.includes(row.key)) {
      event.preventDefault();
      event.stopPropagation();
      onShow(row);
      return;
    }
    if (!/^(Arrow|Home$|End$)/.test(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    const next = rowAfter(rows, at, event.key);
    if (!next) return;
    onShow(next);
    document.getElementById(base + next.key)?.focus();
  };
  return (
    <div
      role="tree"
      aria-label={label}
      className="relative min-h-0 flex-1 overflow-auto py-1"
      {...order.target}
    >
      {rows.map((row, at) => {
        const isChosen = selected.includes(row.key);
        return (
          <div
            key={row.key}
            id={base + row.key}
            data-row={row.key}
            role="treeitem"
            aria-level={row.depth + 1}
            aria-selected={isChosen}
            aria-label={[row.place && `${row.place}:`, row.name, row.about].filter(Boolean).join(" ")}
            tabIndex={row.key === current ? 0 : -1}
            onClick={() => onShow(row)}
            onKeyDown={(event) => press(event, at)}
            {...(row.list === undefined ? undefined : order.source(row.key))}
            style={{ paddingLeft: indent(row) }}
            className={`flex h-7 cursor-pointer items-center gap-2 pr-2 text-sm ${isChosen ? "bg-accent-soft" : "hover:bg-sunken"}`}
          >
            {row.icon}
            {row.place && <span className="shrink-0 text-xs text-soft">{row.place}:</span>}
            {/* The space parts the words of the row, as in its label. */}
            <span className="min-w-0 flex-1 truncate">{row.name}</span> {row.note}
          </div>
        );
      })}
      {order.drop && (
        <div
          aria-hidden="true"
          data-drop
          className="pointer-events-none absolute right-0 h-0.5 -translate-y-1/2 bg-accent"
          style={{ top: order.drop.line.at, left: order.drop.line.from }}
        />
      )}
    </div>
  );
}
