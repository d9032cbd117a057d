import {
  Background,
  Controls,
  type Edge,
  Handle,
  MarkerType,
  MiniMap,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import "./graph.css";
import { memo, useMemo } from "react";
import { isDark, useSettings } from "../app/settings";
import { type State, stateOf } from "../lib/states";
import { t } from "../text";
import { StateIcon } from "../ui/State";
import { type Box, HEIGHT, outline, WIDTH } from "./outline";

/** What happened to an activity. */
export interface Mark {
  status: string;
  runs: number;
}

type CardNode = Node<{ box: Box; mark?: Mark; isRun: boolean }, "card">;

const EDGE: Record<State, string> = {
  pending: "bg-pending",
  running: "bg-running",
  waiting: "bg-waiting",
  finished: "bg-finished",
  faulted: "bg-faulted",
  cancelled: "bg-cancelled",
  skipped: "bg-line",
};

const Card = memo(({ data: { box, mark, isRun }, selected }: NodeProps<CardNode>) => {
  const state = mark ? stateOf(mark.status) : "skipped";
  return (
    <div
      className={`relative flex h-14 w-[200px] items-center gap-2 overflow-hidden rounded-md border bg-raised pr-2 pl-3.5 text-left ${selected ? "border-accent ring-2 ring-accent" : "border-line-strong/60"} ${isRun && !mark ? "opacity-45" : ""}`}
    >
      <Handle type="target" position={Position.Top} isConnectable={false} className="invisible" />
      <span className={`absolute inset-y-0 left-0 w-1.5 ${isRun ? EDGE[state] : "bg-accent"}`} />
      <span className="min-w-0 flex-1">
        <span className="block truncate text-sm font-medium">{box.name}</span>
        <span className="block truncate text-xs text-soft">{box.type}</span>
      </span>
      {mark && (
        <span className="flex items-center gap-1 text-xs tabular-nums text-soft">
          {mark.runs > 1 && `${mark.runs} ×`}
          <StateIcon state={state} />
        </span>
      )}
      <Handle type="source" position={Position.Bottom} isConnectable={false} className="invisible" />
    </div>
  );
});

const nodeTypes = { card: Card };

interface Props {
  root: unknown;
  /** The marks of a run by the ids of activities; without them, the workflow alone is drawn. */
  marks?: ReadonlyMap<string, Mark>;
  selected?: string;
  onSelect?: (activity: string | undefined) => void;
}

/** A workflow as a map: to look at, not to change. */
export function Graph({ root, marks, selected, onSelect }: Props) {
  useSettings();
  const drawn = useMemo(() => outline(root), [root]);
  const nodes = useMemo(
    () =>
      drawn.boxes.map((box): CardNode => {
        const mark = marks?.get(box.id);
        return {
          id: box.id,
          type: "card",
          position: { x: box.x, y: box.y },
          width: WIDTH,
          height: HEIGHT,
          selected: box.id === selected,
          ariaLabel: `${box.name}, ${box.type}${mark ? `, ${t.states[stateOf(mark.status)]}` : ""}`,
          data: { box, mark, isRun: marks !== undefined },
        };
      }),
    [drawn, marks, selected],
  );
  const edges = useMemo(
    () =>
      drawn.ways.map((way): Edge => {
        const taken = marks === undefined || (marks.has(way.from) && marks.has(way.to));
        return {
          id: way.id,
          source: way.from,
          target: way.to,
          label: way.word || undefined,
          type: "smoothstep",
          focusable: false,
          className: taken ? "taken" : "untaken",
          markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16 },
        };
      }),
    [drawn, marks],
  );
  return (
    <ReactFlow
      nodes={nodes}
      edges={edges}
      nodeTypes={nodeTypes}
      colorMode={isDark() ? "dark" : "light"}
      aria-label={t.graph.label}
      nodesDraggable={false}
      nodesConnectable={false}
      edgesFocusable={false}
      deleteKeyCode={null}
      fitView
      fitViewOptions={{ maxZoom: 1, padding: 0.15 }}
      minZoom={0.1}
      onNodesChange={(changes) => {
        for (const change of changes) {
          if (change.type === "select" && change.selected) onSelect?.(change.id);
        }
      }}
      onPaneClick={() => onSelect?.(undefined)}
      proOptions={{ hideAttribution: true }}
    >
      <Background gap={24} />
      <Controls showInteractive={false} aria-label={t.graph.controls} />
      {drawn.boxes.length > 15 && <MiniMap pannable zoomable ariaLabel={t.graph.miniMap} />}
    </ReactFlow>
  );
}
