import { useMemo } from "react";
import { stateOf } from "../lib/states";
import { t } from "../text";
import { StateIcon } from "../ui/State";
import { TreeList, type TreeRow } from "../ui/TreeList";
import { aboutOf, children, isActivity, type Members, nameOf, text } from "./activities";
import type { Mark } from "./outline";
import { type TypeWords, useTypeWords } from "./words";

/** The rows of a tree: all activities of a workflow, with what happened to them. */
export function treeOf(
  root: unknown,
  marks: ReadonlyMap<string, Mark> | undefined,
  words?: TypeWords,
): TreeRow[] {
  const rows: TreeRow[] = [];
  const look = (activity: Members, depth: number, place: string): void => {
    const key = text(activity.id);
    const mark = marks?.get(key);
    const state = mark ? stateOf(mark.status) : "skipped";
    const times = mark && mark.runs > 1 ? `${mark.runs} ×` : "";
    rows.push({
      key,
      depth,
      place: place === "activities" ? undefined : place || undefined,
      name: nameOf(activity, words),
      about: [times, aboutOf(activity, words), marks && t.states[state]].filter(Boolean).join(", "),
      note: mark && (
        <span className="flex items-center gap-1 text-xs text-soft tabular-nums">
          {times}
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
  const words = useTypeWords();
  const rows = useMemo(() => treeOf(root, marks, words), [root, marks, words]);
  return (
    <TreeList
      label={t.graph.tree}
      rows={rows}
      selected={selected === undefined ? [] : [selected]}
      onShow={({ key }) => onSelect(key)}
    />
  );
}
