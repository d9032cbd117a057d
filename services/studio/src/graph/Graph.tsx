import {
  Background,
  BaseEdge,
  ControlButton,
  Controls,
  type Edge,
  type EdgeProps,
  getSmoothStepPath,
  Handle,
  MarkerType,
  MiniMap,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  type ReactFlowInstance,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import "./graph.css";
import { memo, useMemo, useState } from "react";
import { isDark, useSettings } from "../app/settings";
import { type State, stateOf } from "../lib/states";
import { t } from "../text";
import { Icon } from "../ui/Icon";
import { StateIcon } from "../ui/State";
import { type Box, HEIGHT, type Mark, outline, WIDTH } from "./outline";

type CardNode = Node<{ box: Box; mark?: Mark; isRun: boolean; isDown: boolean; note?: string }, "card">;

const EDGE: Record<State, string> = {
  pending: "bg-pending",
  running: "bg-running",
  waiting: "bg-waiting",
  finished: "bg-finished",
  faulted: "bg-faulted",
  cancelled: "bg-cancelled",
  skipped: "bg-line",
};

const Card = memo(({ data: { box, mark, isRun, isDown, note }, selected }: NodeProps<CardNode>) => {
  const state = mark ? stateOf(mark.status) : "skipped";
  return (
    <div
      className={`relative flex h-14 w-[200px] items-center gap-2 overflow-hidden rounded-md border bg-raised pr-2 pl-3.5 text-left ${selected ? "border-accent ring-2 ring-accent" : "border-line-strong/60"} ${isRun && !mark ? "opacity-45" : ""}`}
    >
      <Handle
        type="target"
        position={isDown ? Position.Top : Position.Left}
        isConnectable={false}
        className="invisible"
      />
      <span className={`absolute inset-y-0 left-0 w-1.5 ${isRun ? EDGE[state] : "bg-accent"}`} />
      <span className="min-w-0 flex-1">
        <span className="block truncate text-sm font-medium">{box.name}</span>
        <span className="block truncate text-xs text-soft">{box.type}</span>
      </span>
      {note && <span className="rounded-sm bg-accent-soft px-1.5 text-xs text-accent">{note}</span>}
      {mark && (
        <span className="flex items-center gap-1 text-xs tabular-nums text-soft">
          {mark.runs > 1 && `${mark.runs} ×`}
          <StateIcon state={state} />
        </span>
      )}
      <Handle
        type="source"
        position={isDown ? Position.Bottom : Position.Right}
        isConnectable={false}
        className="invisible"
      />
    </div>
  );
});

type WayEdge = Edge<{ points?: { x: number; y: number }[] }, "way">;

/** A line through the points of the layout, with round corners. */
function through(points: { x: number; y: number }[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  const parts = rest.map((point, at) => {
    const next = rest[at + 1];
    if (!next) return `L ${point.x} ${point.y}`;
    return `Q ${point.x} ${point.y} ${(point.x + next.x) / 2} ${(point.y + next.y) / 2}`;
  });
  return `M ${first.x} ${first.y} ${parts.join(" ")}`;
}

const WayLine = memo((edge: EdgeProps<WayEdge>) => {
  const points = edge.data?.points;
  const [step, stepX, stepY] = getSmoothStepPath(edge);
  if (!points || points.length < 2) {
    return (
      <BaseEdge path={step} label={edge.label} labelX={stepX} labelY={stepY} markerEnd={edge.markerEnd} />
    );
  }
  const middle = points[Math.floor(points.length / 2)];
  return (
    <BaseEdge
      path={through(points)}
      label={edge.label}
      labelX={middle?.x}
      labelY={middle?.y}
      markerEnd={edge.markerEnd}
    />
  );
});

const nodeTypes = { card: Card };
const edgeTypes = { way: WayLine };

const FIT = { maxZoom: 1, padding: 0.12 };
const READABLE = 0.6;
const ZOOM = 0.8;
const LARGE = 150;

/** Where one looks first: at what fails, waits or runs, or else at the begin. */
function focusOf(boxes: Box[], marks: ReadonlyMap<string, Mark> | undefined): Box | undefined {
  const isOpen = (box: Box) => ["Faulted", "Suspended", "Running"].includes(marks?.get(box.id)?.status ?? "");
  return boxes.find(isOpen) ?? boxes[0];
}

/** Shows the whole graph; one that would be too small to be read is shown where one looks first. */
async function showReadable(
  flow: ReactFlowInstance<CardNode, WayEdge>,
  focus: Box | undefined,
): Promise<void> {
  await flow.fitView(FIT);
  if (flow.getZoom() < READABLE && focus) {
    await flow.setCenter(focus.x + WIDTH, focus.y + HEIGHT / 2, { zoom: ZOOM });
  }
}

interface Props {
  root: unknown;
  /** The marks of a run by the ids of activities; without them, the workflow alone is drawn. */
  marks?: ReadonlyMap<string, Mark>;
  /** A word on a card, by the id of its activity. */
  notes?: ReadonlyMap<string, string>;
  selected?: string;
  onSelect?: (activity: string | undefined) => void;
}

/** A workflow as a map: to look at, not to change. */
export function Graph({ root, marks, notes, selected, onSelect }: Props) {
  useSettings();
  const [isArranged, setArranged] = useState(false);
  const drawn = useMemo(() => outline(root, isArranged), [root, isArranged]);
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
          data: { box, mark, isRun: marks !== undefined, isDown: drawn.isDown, note: notes?.get(box.id) },
        };
      }),
    [drawn, marks, notes, selected],
  );
  const edges = useMemo(
    () =>
      drawn.ways.map((way): WayEdge => {
        const taken = marks === undefined || (marks.has(way.from) && marks.has(way.to));
        return {
          id: way.id,
          source: way.from,
          target: way.to,
          label: way.word || undefined,
          type: "way",
          data: { points: way.points },
          focusable: false,
          className: taken ? "taken" : "untaken",
          markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16 },
        };
      }),
    [drawn, marks],
  );
  const focus = focusOf(drawn.boxes, marks);
  const isLarge = drawn.boxes.length > LARGE;
  return (
    <ReactFlow
      key={String(isArranged)}
      nodes={nodes}
      edges={edges}
      nodeTypes={nodeTypes}
      edgeTypes={edgeTypes}
      colorMode={isDark() ? "dark" : "light"}
      aria-label={t.graph.label}
      nodesDraggable={false}
      nodesConnectable={false}
      edgesFocusable={false}
      deleteKeyCode={null}
      onlyRenderVisibleElements={isLarge}
      defaultViewport={focus && { x: 240 - focus.x * ZOOM, y: 160 - focus.y * ZOOM, zoom: ZOOM }}
      onInit={(flow) => {
        if (!isLarge) void showReadable(flow, focus);
      }}
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
      <Controls showInteractive={false} aria-label={t.graph.controls} fitViewOptions={FIT}>
        {(isArranged || !drawn.isDown) && (
          <ControlButton
            title={isArranged ? t.graph.asDrawn : t.graph.arrange}
            aria-label={isArranged ? t.graph.asDrawn : t.graph.arrange}
            onClick={() => setArranged(!isArranged)}
          >
            <Icon name="definitions" size={14} />
          </ControlButton>
        )}
      </Controls>
      {drawn.boxes.length > 15 && <MiniMap pannable zoomable ariaLabel={t.graph.miniMap} />}
    </ReactFlow>
  );
}
