import {
  Background,
  type Connection,
  Controls,
  type EdgeMouseHandler,
  MiniMap,
  type NodeChange,
  type OnConnectEnd,
  ReactFlow,
  useReactFlow,
  useStore,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { type DragEvent, useEffect, useMemo, useRef, useState } from "react";
import { isDark, useSettings } from "../../app/settings";
import { reconnect } from "../../model/commands";
import { HEIGHT, WIDTH } from "../../model/layout";
import type { Point } from "../../model/view";
import { Card } from "./Card";
import { addType, connectTo, moveTo } from "./deeds";
import { EmptyPage } from "./EmptyPage";
import { showAll } from "./fit";
import { type CardNode, edgesOf, nodesOf, problemsByKey, type WireEdge } from "./nodes";
import { useStudio, useView } from "./store";
import { Wire } from "./Wire";
import { w } from "./words";

const nodeTypes = { card: Card };
const edgeTypes = { wire: Wire };
const FAR = 0.5;
const MANY = 60;
const SNAP: [number, number] = [8, 8];

export const DRAGGED = "application/x-staunch-activity";

function useCards() {
  const page = useView((state) => state.page);
  const index = useView((state) => state.index);
  const view = useView((state) => state.view);
  const places = useView((state) => state.places);
  const selected = useView((state) => state.selected);
  const lines = useView((state) => state.lines);
  const local = useView((state) => state.problems);
  const found = useView((state) => state.found);
  const marks = useView((state) => state.marks);
  const problems = useMemo(() => problemsByKey([...local, ...found]), [local, found]);
  const before = useRef({ nodes: new Map<string, CardNode>(), edges: new Map<string, WireEdge>() });
  const nodes = useMemo(() => {
    const all = nodesOf({ index, view, places, selected, problems, marks }, before.current.nodes);
    before.current.nodes = new Map(all.map((node) => [node.id, node]));
    return all;
  }, [index, view, places, selected, problems, marks]);
  const edges = useMemo(() => {
    const all = edgesOf(view, lines, marks, before.current.edges);
    before.current.edges = new Map(all.map((edge) => [edge.id, edge]));
    return all;
  }, [view, lines, marks]);
  return { page, view, nodes, edges };
}

/** While activities are dragged their places are here; the definition changes when they are let go. */
function useDragged(nodes: CardNode[]) {
  const [dragged, setDragged] = useState<ReadonlyMap<string, Point>>();
  const shown = useMemo(() => {
    if (!dragged) return nodes;
    return nodes.map((node) => {
      const at = dragged.get(node.id);
      return at ? { ...node, position: at, dragging: true } : node;
    });
  }, [nodes, dragged]);
  return { shown, dragged, setDragged };
}

function lineUnder(event: { clientX: number; clientY: number }): string | undefined {
  for (const element of document.elementsFromPoint(event.clientX, event.clientY)) {
    const id = element.closest(".react-flow__edge")?.getAttribute("data-id");
    if (id) return id;
  }
  return undefined;
}

/** Draws less when everything is small. */
function Far() {
  const isFar = useStore((state) => state.transform[2] < FAR);
  useEffect(() => {
    document.querySelector(".designer .react-flow")?.classList.toggle("is-far", isFar);
  }, [isFar]);
  return null;
}

/** Fits each page when it opens. */
function useFit(page: unknown) {
  const studio = useStudio();
  const flow = useReactFlow();
  const fitted = useRef<unknown>(undefined);
  useEffect(() => {
    if (fitted.current !== undefined && fitted.current !== page) showAll(studio, flow, true);
    fitted.current = page;
  }, [studio, flow, page]);
}

export function Canvas() {
  useSettings();
  const studio = useStudio();
  const flow = useReactFlow();
  const { page, view, nodes, edges } = useCards();
  const { shown, dragged, setDragged } = useDragged(nodes);
  const [isConnecting, setConnecting] = useState(false);
  useFit(page);

  const onNodesChange = (changes: NodeChange<CardNode>[]) => {
    const chosen = new Set(studio.get().selected);
    let isSelection = false;
    let moved: Map<string, Point> | undefined;
    for (const change of changes) {
      if (change.type === "select") {
        isSelection = true;
        if (change.selected) chosen.add(change.id);
        else chosen.delete(change.id);
      } else if (change.type === "position" && change.position && change.dragging) {
        moved ??= new Map(dragged);
        moved.set(change.id, change.position);
      }
    }
    if (isSelection) studio.select([...chosen], chosen.size > 0 ? [] : studio.get().lines);
    if (moved) setDragged(moved);
  };

  const drop = () => {
    if (dragged) moveTo(studio, dragged);
    setDragged(undefined);
  };

  const onConnectEnd: OnConnectEnd = (event, connection) => {
    setConnecting(false);
    const at = "changedTouches" in event ? event.changedTouches[0] : event;
    const from = connection.fromNode?.id;
    if (connection.isValid || !at || from === undefined) return;
    const node = document
      .elementFromPoint(at.clientX, at.clientY)
      ?.closest(".react-flow__node")
      ?.getAttribute("data-id");
    const port = connection.fromHandle?.id ?? undefined;
    const isBack = connection.fromHandle?.type === "target";
    if (node && node !== from) {
      if (isBack) connectTo(studio, node, undefined, from);
      else connectTo(studio, from, port, node);
      return;
    }
    const place = flow.screenToFlowPosition({ x: at.clientX, y: at.clientY });
    const how = isBack
      ? { before: { key: from, port: "Done" }, at: { x: place.x - WIDTH, y: place.y - HEIGHT / 2 } }
      : { after: { key: from, port: port ?? "Done" }, at: { x: place.x, y: place.y - HEIGHT / 2 } };
    studio.set({ adding: { screen: { x: at.clientX, y: at.clientY }, how } });
  };

  const onDrop = (event: DragEvent) => {
    const type = studio.types.get(event.dataTransfer.getData(DRAGGED));
    if (!type) return;
    event.preventDefault();
    const place = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    const line = view.lines.find((one) => one.id === lineUnder(event));
    const at = { x: place.x - WIDTH / 2, y: place.y - HEIGHT / 2 };
    addType(studio, type, { at, ...(line ? { line: { line, port: "Done" } } : {}) });
  };

  const onEdgeDoubleClick: EdgeMouseHandler<WireEdge> = (event, edge) => {
    const line = edge.data?.line;
    if (!line) return;
    const place = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    const at = { x: place.x - WIDTH / 2, y: place.y - HEIGHT / 2 };
    studio.set({
      adding: { screen: { x: event.clientX, y: event.clientY }, how: { line: { line, port: "Done" }, at } },
    });
  };

  return (
    <div className={`relative size-full ${isConnecting ? "is-connecting" : ""}`} data-page={view.kind}>
      <svg aria-hidden="true" className="absolute size-0">
        <defs>
          <marker
            id="wire-end"
            viewBox="0 0 10 10"
            refX="9"
            refY="5"
            markerWidth="7"
            markerHeight="7"
            markerUnits="userSpaceOnUse"
            orient="auto"
          >
            <path d="M0 0 10 5 0 10z" fill="var(--line-strong)" />
          </marker>
        </defs>
      </svg>
      <ReactFlow
        nodes={shown}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        colorMode={isDark() ? "dark" : "light"}
        aria-label={w.canvas}
        disableKeyboardA11y
        onInit={(made) => showAll(studio, made, true)}
        onNodesChange={onNodesChange}
        onNodeDragStop={drop}
        onSelectionDragStop={drop}
        onConnectStart={() => setConnecting(true)}
        onConnect={(made: Connection) =>
          connectTo(studio, made.source, made.sourceHandle ?? undefined, made.target)
        }
        onConnectEnd={onConnectEnd}
        onReconnect={(edge, made) => {
          if (!edge.data) return;
          const ends = { source: made.source, port: made.sourceHandle ?? "Done", target: made.target };
          studio.do(reconnect(studio.get().index, view, edge.data.line, ends, w.did.reconnect));
        }}
        onEdgeClick={(_, edge) => studio.select([], [edge.id])}
        onEdgeDoubleClick={onEdgeDoubleClick}
        onNodeDoubleClick={(_, node) => {
          const first = node.data.card.chips[0];
          if (first) studio.open(first.page);
        }}
        onPaneClick={() => studio.select([])}
        onDragOver={(event) => {
          if (event.dataTransfer.types.includes(DRAGGED)) event.preventDefault();
        }}
        onDrop={onDrop}
        deleteKeyCode={null}
        multiSelectionKeyCode={["Shift", "Control", "Meta"]}
        snapToGrid
        snapGrid={SNAP}
        onlyRenderVisibleElements={nodes.length > MANY}
        elevateNodesOnSelect={false}
        zoomOnDoubleClick={false}
        minZoom={0.05}
        maxZoom={2}
        connectionRadius={24}
        proOptions={{ hideAttribution: true }}
      >
        <Far />
        <Background gap={24} />
        <Controls
          showInteractive={false}
          position="bottom-left"
          aria-label={w.canvas}
          onFitView={() => showAll(studio, flow)}
        />
        {nodes.length > 6 && <MiniMap pannable zoomable ariaLabel={w.canvas} nodeBorderRadius={6} />}
      </ReactFlow>
      {view.items.length === 0 && <EmptyPage />}
    </div>
  );
}
