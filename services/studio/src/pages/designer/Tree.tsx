import { type KeyboardEvent, useMemo } from "react";
import { type Entry, type Index, nameOf, slotsOf } from "../../model/activities";
import { pageInside, pageOf } from "../../model/view";
import { cardOf, slotWord } from "./cards";
import { Glyph } from "./Glyph";
import { problemsByKey } from "./nodes";
import { useStudio, useView } from "./store";
import { w } from "./words";

interface Row {
  key: string;
  entry: Entry;
  depth: number;
  slot: string;
}

function rowsOf(index: Index): Row[] {
  const rows: Row[] = [];
  const walk = (entry: Entry, depth: number) => {
    const owner = entry.owner === undefined ? undefined : index.get(entry.owner);
    const slots = owner && entry.slot ? slotsOf(owner.activity, index.type(owner)) : [];
    const found = slots.find((one) => one.slot === entry.slot);
    const slot = found ? slotWord(found) : "";
    rows.push({ key: entry.key, entry, depth, slot });
    for (const child of index.children(entry.key)) walk(child, depth + 1);
  };
  const root = index.root();
  if (root) walk(root, 0);
  return rows;
}

/** All activities as a tree: the same selection and the same keys as the canvas. */
export function Tree() {
  const studio = useStudio();
  const index = useView((state) => state.index);
  const selected = useView((state) => state.selected);
  const problems = useView((state) => state.problems);
  const rows = useMemo(() => rowsOf(index), [index]);
  const marked = useMemo(() => problemsByKey(problems), [problems]);
  const current = selected[0] ?? rows[0]?.key;
  const show = (row: Row) => {
    if (row.depth === 0) studio.open(pageInside(index, row.key));
    else studio.open(pageOf(index, row.key), [row.key]);
  };
  const key = (event: KeyboardEvent<HTMLElement>, at: number) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const next = event.key === "Home" ? rows[0] : event.key === "End" ? rows.at(-1) : rows[at + step];
    if ((step === 0 && event.key !== "Home" && event.key !== "End") || !next || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    show(next);
    document.getElementById(`tree-${next.key}`)?.focus();
  };
  return (
    <div role="tree" aria-label={w.tree} className="min-h-0 flex-1 overflow-auto py-1">
      {rows.map((row, at) => {
        const type = index.type(row.entry);
        const isChosen = selected.includes(row.key);
        const problem = marked.get(row.key);
        return (
          <div
            key={row.key}
            id={`tree-${row.key}`}
            role="treeitem"
            aria-level={row.depth + 1}
            aria-selected={isChosen}
            tabIndex={row.key === current ? 0 : -1}
            onClick={() => show(row)}
            onKeyDown={(event) => key(event, at)}
            style={{ paddingLeft: 8 + row.depth * 14 }}
            className={`flex h-7 cursor-pointer items-center gap-2 pr-2 text-sm ${isChosen ? "bg-accent-soft" : "hover:bg-sunken"}`}
          >
            <span className={problem === "error" ? "text-faulted" : problem ? "text-waiting" : "text-soft"}>
              <Glyph of={cardOf(row.entry, type).glyph} size={14} />
            </span>
            {row.slot && <span className="shrink-0 text-xs text-soft">{row.slot}:</span>}
            <span className="truncate">
              {row.depth === 0 ? w.workflow : nameOf(row.entry.activity, type)}
            </span>
          </div>
        );
      })}
    </div>
  );
}
