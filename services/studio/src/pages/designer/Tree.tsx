import { useMemo } from "react";
import { type Entry, type Index, nameOf, slotsOf } from "../../model/activities";
import { membersOf } from "../../model/json";
import { listAround } from "../../model/order";
import type { Problem } from "../../model/problems";
import { pageInside, pageOf } from "../../model/view";
import { TreeList, type TreeRow } from "../../ui/TreeList";
import { cardOf, slotWord } from "./cards";
import { reorderBy } from "./deeds";
import { Glyph } from "./Glyph";
import { problemsByKey } from "./nodes";
import { useStudio, useView } from "./store";
import { w } from "./words";

function rowsOf(index: Index, problems: readonly Problem[], isReadonly: boolean): TreeRow[] {
  const marked = problemsByKey(problems);
  const rows: TreeRow[] = [];
  const walk = (entry: Entry, depth: number) => {
    const owner = entry.owner === undefined ? undefined : index.get(entry.owner);
    const slots = owner && entry.slot ? slotsOf(owner.activity, index.type(owner)) : [];
    const found = slots.find((one) => one.slot === entry.slot);
    const type = index.type(entry);
    const problem = marked.get(entry.key);
    rows.push({
      key: entry.key,
      depth,
      list: isReadonly ? undefined : listAround(index, entry),
      place: found && slotWord(found),
      name: depth === 0 ? w.workflow : nameOf(entry.activity, type),
      about: problem && w.problems,
      icon: (
        <span className={problem === "error" ? "text-faulted" : problem ? "text-waiting" : "text-soft"}>
          <Glyph of={cardOf(entry, type).glyph} size={14} />
        </span>
      ),
    });
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
  const local = useView((state) => state.problems);
  const found = useView((state) => state.found);
  const isReadonly = useView((state) => membersOf(state.history.doc)?.isReadonly === true);
  const isFixed = isReadonly || studio.isLocked;
  const rows = useMemo(() => rowsOf(index, [...local, ...found], isFixed), [index, local, found, isFixed]);
  return (
    <TreeList
      label={w.tree}
      rows={rows}
      selected={selected}
      onShow={({ key, depth }) =>
        depth === 0 ? studio.open(pageInside(index, key)) : studio.open(pageOf(index, key), [key])
      }
      onMove={({ key }, by) => {
        reorderBy(studio, key, by);
        studio.reveal(key);
      }}
    />
  );
}
