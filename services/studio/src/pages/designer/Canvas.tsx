import {
  Background,
  ControlButton,
  Controls,
  ReactFlow,
  type ReactFlowInstance,
  useReactFlow,
  useStore,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { useEffect, useMemo, useRef, useState } from "react";
import { isDark, useSettings } from "../../app/settings";
import { membersOf } from "../../model/json";
import { Card } from "./Card";
import { EmptyPage } from "./EmptyPage";
import { READABLE, showAll, showSelected, ZOOM_MIN } from "./fit";
import { type Dragged, handlersFor, NO_GUIDES } from "./handlers";
import { followSelection } from "./keys";
import { FarLines, Guides, Overview } from "./Map";
import { type CardNode, edgesOf, nodesOf, problemsByKey, type WireEdge } from "./nodes";
import { useStudio, useView } from "./store";
import { Wire } from "./Wire";
import { w } from "./words";

// What never changes is made once, so that no card is drawn again for it.
const nodeTypes = { card: Card };
const edgeTypes = { wire: Wire };
const SNAP: [number, number] = [8, 8];
const MULTI = ["Shift", "Control", "Meta"];
const PRO = { hideAttribution: true };
const NO_EDGES: WireEdge[] = [];
const FAR = READABLE;
/** Above the cards that are opened. */
const ABOVE_ALL = 1001;
const MANY = 60;
const MANY_LINES = 150;

function useCards() {
  const page = useView((state) => state.page);
  const index = useView((state) => state.index);
  const view = useView((state) => state.view);
  const places = useView((state) => state.shown);
  const selected = useView((state) => state.selected);
  const inPlace = useView((state) => state.inPlace);
  const lines = useView((state) => state.lines);
  const local = useView((state) => state.problems);
  const found = useView((state) => state.found);
  const marks = useView((state) => state.marks);
  const pins = useView((state) => state.trial.pins);
  const { isLocked } = useStudio();
  const isReadonly = useView((state) => membersOf(state.history.doc)?.isReadonly === true);
  const problems = useMemo(() => problemsByKey([...local, ...found]), [local, found]);
  const before = useRef({ nodes: new Map<string, CardNode>(), edges: new Map<string, WireEdge>() });
  const nodes = useMemo(() => {
    const from = { index, view, places, selected, problems, marks, inPlace, pins, isReadonly, isLocked };
    const all = nodesOf(from, before.current.nodes);
    before.current.nodes = new Map(all.map((node) => [node.id, node]));
    return all;
  }, [index, view, places, selected, problems, marks, inPlace, pins, isReadonly, isLocked]);
  const edges = useMemo(() => {
    const all = edgesOf(index, view, lines, marks, before.current.edges);
    before.current.edges = new Map(all.map((edge) => [edge.id, edge]));
    return all;
  }, [index, view, lines, marks]);
  return { page, view, nodes, edges };
}

function useDragged(nodes: CardNode[]) {
  const [dragged, setState] = useState<Dragged>();
  const latest = useRef<Dragged>(undefined);
  const [setDragged] = useState(() => (next: Dragged) => {
    latest.current = next;
    setState(next);
  });
  const shown = useMemo(() => {
    if (!dragged) return nodes;
    return nodes.map((node) => {
      const at = dragged.get(node.id);
      return at ? { ...node, position: at, dragging: true, zIndex: ABOVE_ALL } : node;
    });
  }, [nodes, dragged]);
  return { shown, dragged: latest, setDragged };
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

/**
 * Brings what is selected into view, if none of it is seen: what was pasted, added, or found in the tree. The focus
 * goes from one card to the next with it.
 */
function useSeen() {
  const studio = useStudio();
  const flow = useReactFlow();
  const selected = useView((state) => state.selected);
  useEffect(() => {
    if (selected.length > 0) showSelected(studio, flow);
    // A new card is drawn a moment later.
    const frame = requestAnimationFrame(() => followSelection(studio));
    return () => cancelAnimationFrame(frame);
  }, [studio, flow, selected]);
}

export function Canvas() {
  useSettings();
  const studio = useStudio();
  const flow = useReactFlow<CardNode, WireEdge>();
  const isFar = useStore((state) => state.transform[2] < FAR);
  const { page, view, nodes, edges } = useCards();
  const { shown, dragged, setDragged } = useDragged(nodes);
  const [guides, setGuides] = useState(NO_GUIDES);
  const [handlers] = useState(() => {
    const onInit = (made: ReactFlowInstance<CardNode, WireEdge>) => showAll(studio, made, true);
    return { ...handlersFor({ studio, flow, dragged, setDragged, setGuides }), onInit };
  });
  useFit(page);
  useSeen();
  const isDrawnAtOnce = isFar && edges.length > MANY_LINES;
  return (
    // A press here ends the selection of text elsewhere.
    <div
      className="relative size-full"
      data-page={view.kind}
      onPointerDownCapture={() => document.getSelection()?.removeAllRanges()}
    >
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
        {...handlers}
        nodesDraggable={!studio.isLocked}
        nodesConnectable={!studio.isLocked}
        edgesReconnectable={!studio.isLocked}
        nodes={shown}
        edges={isDrawnAtOnce ? NO_EDGES : edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        className={isFar ? "is-far" : ""}
        colorMode={isDark() ? "dark" : "light"}
        aria-label={w.canvas}
        disableKeyboardA11y
        nodesFocusable={nodes.length <= MANY}
        deleteKeyCode={null}
        multiSelectionKeyCode={MULTI}
        snapToGrid
        snapGrid={SNAP}
        onlyRenderVisibleElements={nodes.length > MANY}
        elevateNodesOnSelect={false}
        zoomOnDoubleClick={false}
        minZoom={ZOOM_MIN}
        maxZoom={2}
        connectionRadius={24}
        proOptions={PRO}
      >
        {/* From afar its dots would be a pattern of their own. */}
        {!isFar && <Background gap={24} />}
        <Controls showInteractive={false} showFitView={false} position="bottom-left" aria-label={w.canvas}>
          <ControlButton title={w.fit} aria-label={w.fit} onClick={() => showAll(studio, flow)}>
            <svg viewBox="0 0 32 30" aria-hidden="true">
              <path d="M3.7 4.6v5.4H0V4.5A3.6 3.6 0 0 1 3.6.9h5.6v3.7zM22.8.9h5.6A3.6 3.6 0 0 1 32 4.5V10h-3.7V4.6h-5.5zM28.3 25.4V20H32v5.4a3.6 3.6 0 0 1-3.6 3.7h-5.6v-3.7zM0 25.4V20h3.7v5.4h5.5v3.7H3.6A3.6 3.6 0 0 1 0 25.4z" />
            </svg>
          </ControlButton>
        </Controls>
        {guides.length > 0 && <Guides guides={guides} />}
        {isDrawnAtOnce && <FarLines nodes={shown} edges={edges} />}
      </ReactFlow>
      <Overview nodes={nodes} />
      {view.items.length === 0 && <EmptyPage />}
    </div>
  );
}
