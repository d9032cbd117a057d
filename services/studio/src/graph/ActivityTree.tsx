import { useMemo } from "react";
import { typeName } from "../lib/format";
import { stateOf } from "../lib/states";
import { t } from "../text";
import { StateIcon } from "../ui/State";
import { TreeList, type TreeRow } from "../ui/TreeList";
import { children, isActivity, type Members, nameOf, text } from "./activities";
import type { Mark } from "./outline";

/** The rows of a tree: all activities of a workflow, with what happened to them. */
export function treeOf(root: unknown, marks: ReadonlyMap<string, Mark> | undefined): TreeRow[] {
  const rows: TreeRow[] = [];
  const look = (activity: Members, depth: number, place: string): void => {
    const key = text(activity.id);
    const mark = marks?.get(key);
    const state = mark ? stateOf(mark.status) : "skipped";
    rows.push({
      key,
      depth,
      place: place === "activities" ? undefined : place || undefined,
      name: nameOf(activity),
      about: [typeName(text(activity.type)), marks && t.states[state]].filter(Boolean).join(", "),
      note: mark && (
        <span className="flex items-center gap-1 text-xs text-soft tabular-nums">
          {mark.runs > 1 && `${mark.runs} ×`}
          <StateIcon state={state} />
        </span>
      ),
    });
    for (const [port, child] of children(activity)) look(child, depth + 1, port);
  };
  if (isActivity(root)) look(root, 0, "");
  return rows;
}

interface Props {
  root: unknown;
  marks?: ReadonlyMap<string, Mark>;
  selected?: string;
  onSelect: (activity: string) => void;
}

/** The same as the graph, for the keyboard and for screen readers. */
export function ActivityTree({ root, marks, selected, onSelect }: Props) {
  const rows = useMemo(() => treeOf(root, marks), [root, marks]);
  return (
    <TreeList
      label={t.graph.tree}
      rows={rows}
      selected={selected === undefined ? [] : [selected]}
      onShow={({ key }) => onSelect(key)}
    />
  );
}
