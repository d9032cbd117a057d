import { type KeyboardEvent, type ReactNode, useId } from "react";

export interface TreeRow {
  key: string;
  depth: number;
  icon?: ReactNode;
  /** The place of the row in its owner, where it has a name. */
  place?: string;
  name: string;
  /** What stands at the end of the row. */
  note?: ReactNode;
  /** What a screen reader says of the row beyond its name. */
  about?: string;
}

interface Props {
  label: string;
  rows: readonly TreeRow[];
  selected: readonly string[];
  onShow: (row: TreeRow) => void;
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
export function TreeList({ label, rows, selected, onShow }: Props) {
  const base = useId();
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
    <div role="tree" aria-label={label} className="min-h-0 flex-1 overflow-auto py-1">
      {rows.map((row, at) => {
        const isChosen = selected.includes(row.key);
        return (
          <div
            key={row.key}
            id={base + row.key}
            role="treeitem"
            aria-level={row.depth + 1}
            aria-selected={isChosen}
            aria-label={[row.place && `${row.place}:`, row.name, row.about].filter(Boolean).join(" ")}
            tabIndex={row.key === current ? 0 : -1}
            onClick={() => onShow(row)}
            onKeyDown={(event) => press(event, at)}
            style={{ paddingLeft: 8 + row.depth * 14 }}
            className={`flex h-7 cursor-pointer items-center gap-2 pr-2 text-sm ${isChosen ? "bg-accent-soft" : "hover:bg-sunken"}`}
          >
            {row.icon}
            {row.place && <span className="shrink-0 text-xs text-soft">{row.place}:</span>}
            <span className="min-w-0 flex-1 truncate">{row.name}</span>
            {row.note}
          </div>
        );
      })}
    </div>
  );
}
