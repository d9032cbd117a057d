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
  useReactFlow,
  useStore,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import "./graph.css";
import { memo, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { isDark, useSettings } from "../app/settings";
import { formatDuration } from "../lib/format";
import { type State, stateOf } from "../lib/states";
import { narrowed } from "../model/layout";
import { t } from "../text";
import { Icon } from "../ui/Icon";
import { StateIcon } from "../ui/State";
import { type Change, changesOf, compare } from "./compare";
import { LineWord } from "./LineWord";
import { type Box, CARD, HEIGHT, type Mark, outline } from "./outline";
import {
  currentOf,
  isCut,
  outcomesBy,
  startOf,
  through,
  titlesOf,
  turnBetween,
  viewOf,
  wordOf,
} from "./view";
import { useTypeWords } from "./words";

interface CardData extends Record<string, unknown> {
  box: Box;
  mark?: Mark;
  isRun: boolean;
  isDown: boolean;
  note?: string;
  change?: Change;
  /** The outcomes that stand at its right side, where there are several. */
  outcomes: readonly string[];
}

const NO_OUTCOMES: readonly string[] = [];

type CardNode = Node<CardData, "card">;

const CHANGE: Record<Change, { edge: string; box: string; badge: string }> = {
  added: { edge: "bg-finished", box: "border-finished", badge: "text-finished" },
  changed: { edge: "bg-waiting", box: "border-waiting", badge: "text-waiting" },
  removed: { edge: "bg-faulted", box: "border-dashed border-faulted", badge: "text-faulted" },
};

/** What is at the right of a card: how often the activity ran, how it ended, how long it took. */
function Ran({ mark }: { mark: Mark }) {
  return (
    <span className="flex flex-col items-end text-xs tabular-nums text-soft">
      <span className="flex items-center gap-1">
        {mark.runs > 1 && `${mark.runs} ×`}
        <StateIcon state={stateOf(mark.status)} />
      </span>
      {Boolean(mark.ms) && (
        <span title={mark.runs > 1 ? t.instance.tookLast(formatDuration(mark.ms ?? 0)) : undefined}>
          {formatDuration(mark.ms ?? 0)}
        </span>
      )}
    </span>
  );
}

const EDGE: Record<State, string> = {
  pending: "bg-pending",
  running: "bg-running",
  waiting: "bg-waiting",
  finished: "bg-finished",
  faulted: "bg-faulted",
  cancelled: "bg-cancelled",
  passedOver: "bg-ink",
  skipped: "bg-line",
};

const Card = memo(
  ({ data: { box, mark, isRun, isDown, note, change, outcomes }, selected, width }: NodeProps<CardNode>) => {
    const state = mark ? stateOf(mark.status) : "skipped";
    const changed = change && CHANGE[change];
    const edge = changed?.edge ?? (isRun ? EDGE[state] : "bg-accent");
    const border = selected ? "border-accent ring-2 ring-accent" : (changed?.box ?? "border-line-strong/60");
    return (
      <div
        style={{ width }}
        className={`relative flex h-14 items-center gap-2 overflow-hidden rounded-md border bg-raised pr-2 pl-3.5 text-left ${border} ${isRun && !mark ? "opacity-45" : ""}`}
      >
        <Handle
          type="target"
          position={isDown ? Position.Top : Position.Left}
          isConnectable={false}
          className="invisible"
        />
        <span className={`absolute inset-y-0 left-0 w-1.5 ${edge}`} />
        <span className={`min-w-0 flex-1 ${change === "removed" ? "text-soft line-through" : ""}`}>
          <span className="block truncate text-sm font-medium">{box.name}</span>
          <span className="block truncate text-xs text-soft">{box.about}</span>
        </span>
        {note && <span className="rounded-sm bg-accent-soft px-1.5 text-xs text-accent">{note}</span>}
        {changed && change && (
          <span className={`text-xs font-medium ${changed.badge}`}>{t.definitions[change]}</span>
        )}
        {mark && <Ran mark={mark} />}
        {(isDown || outcomes.length === 0) && (
          <Handle
            type="source"
            position={isDown ? Position.Bottom : Position.Right}
            isConnectable={false}
            className="invisible"
          />
        )}
        {!isDown &&
          outcomes.map((outcome, at) => (
            <Handle
              key={outcome}
              id={outcome}
              type="source"
              position={Position.Right}
              isConnectable={false}
              className="invisible"
              style={{ top: `${((at + 0.5) * 100) / outcomes.length}%` }}
            />
          ))}
      </div>
    );
  },
);

type WayEdge = Edge<
  {
    word: string;
    points?: { x: number; y: number }[];
    wordAt?: { x: number; y: number };
    /** The outcomes of its source, where there are several. */
    outcomes: readonly string[];
    className: string;
  },
  "way"
>;

const WayLine = memo((edge: EdgeProps<WayEdge>) => {
  const { sourceX, sourceY, targetX, data, markerEnd } = edge;
  const { word = "", points, wordAt, outcomes = NO_OUTCOMES, className = "" } = data ?? {};
  if (!points || points.length < 2) {
    const isOn = targetX > sourceX;
    const turn = turnBetween(sourceX, targetX, outcomes.length > 0 ? outcomes : [word]);
    const [path] = getSmoothStepPath({ ...edge, ...(isOn ? { centerX: turn } : {}) });
    return (
      <>
        <BaseEdge path={path} markerEnd={markerEnd} />
        {word && (
          <LineWord
            text={word}
            at={{ x: sourceX + 6, y: sourceY - 1 }}
            isBeginning
            room={isOn ? Math.max(ROOM, targetX - sourceX - 10) : undefined}
            className={className}
          />
        )}
      </>
    );
  }
  const middle = wordAt ?? points[Math.floor(points.length / 2)];
  return (
    <>
      <BaseEdge path={through(points)} markerEnd={markerEnd} />
      {word && middle && <LineWord text={word} at={middle} className={className} />}
    </>
  );
});

/** A side of a card is as large as a handle of the library: a line begins at its outer edge. */
const SIZE = 5;

/** Where lines begin and end at a card: known without a look at the page, as another version has other outcomes. */
function handlesOf(
  width: number,
  isDown: boolean,
  outcomes: readonly string[],
): NonNullable<Node["handles"]> {
  const at = (x: number, y: number) => ({ x: x - SIZE / 2, y: y - SIZE / 2, width: SIZE, height: SIZE });
  if (isDown)
    return [
      { type: "target", position: Position.Top, ...at(width / 2, 0) },
      { type: "source", position: Position.Bottom, ...at(width / 2, HEIGHT) },
    ];
  const ids = outcomes.length > 0 ? outcomes : [undefined];
  return [
    { type: "target", position: Position.Left, ...at(0, HEIGHT / 2) },
    ...ids.map((id, row) => ({
      id,
      type: "source" as const,
      position: Position.Right,
      ...at(width, ((row + 0.5) * HEIGHT) / ids.length),
    })),
  ];
}

const nodeTypes = { card: Card };
const edgeTypes = { way: WayLine };

const FIT = { maxZoom: 1, padding: 0.12 };
const LARGE = 150;
/** From this number of boxes on, there is an overview of all of them. */
const MANY = 16;
/** What a word beside a card has in any case, and how wide a graph is that has room for an overview, in pixels. */
const ROOM = 36;
const WIDE = 480;
/** The overview, and that in a small one. The library draws its frame within one that is much wider than high. */
const OVERVIEW = { width: 160, height: 120 };
const SMALL = { width: 104, height: 64 };

/** Shows the whole graph, or where one looks first, until one moves it: then it stays as one left it. */
function Framing({
  boxes,
  start,
  focus,
  isMoved,
}: {
  boxes: Box[];
  start?: Box;
  focus?: Box;
  isMoved: () => boolean;
}) {
  const flow = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  useEffect(() => {
    if (width === 0 || height === 0 || isMoved()) return;
    void flow.setViewport(viewOf(boxes, focus, { width, height }, start));
  }, [flow, width, height, boxes, start, focus, isMoved]);
  return null;
}

/** All of a graph, small: of a large one, and of one that opens with a part of it, which shows that there is more. */
function Overview({ boxes }: { boxes: readonly Box[] }) {
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const hasMore = useMemo(() => isCut(boxes, { width, height }), [boxes, width, height]);
  const isNarrow = width < WIDE;
  if (!hasMore && (boxes.length < MANY || isNarrow)) return null;
  return <MiniMap style={isNarrow ? SMALL : OVERVIEW} pannable zoomable ariaLabel={t.graph.miniMap} />;
}

interface Props {
  root: unknown;
  /** The marks of a run by the ids of activities; without them, the workflow alone is drawn. */
  marks?: ReadonlyMap<string, Mark>;
  /** An earlier version of the workflow, to which what changed since then is marked. */
  before?: unknown;
  /** A word on a card, by the id of its activity. */
  notes?: ReadonlyMap<string, string>;
  selected?: string;
  onSelect?: (activity: string | undefined) => void;
  /** Something stands beside it: on a phone, its buttons have no room at the top. */
  isNarrow?: boolean;
}

/** A workflow as a map: to look at, not to change. */
export function Graph({ root, marks, before, notes, selected, onSelect, isNarrow }: Props) {
  useSettings();
  const [isArranged, setArranged] = useState(false);
  const typeWords = useTypeWords();
  const drawn = useMemo(
    () => outline(root, isArranged, before, typeWords),
    [root, isArranged, before, typeWords],
  );
  const changes = useMemo(
    () => (before === undefined ? undefined : changesOf(compare(before, root))),
    [before, root],
  );
  const widths = useMemo(
    () => (drawn.isDown ? undefined : narrowed(new Map(drawn.boxes.map((box) => [box.id, box])))),
    [drawn],
  );
  const outcomes = useMemo(() => (drawn.isDown ? undefined : outcomesBy(drawn.boxes, drawn.ways)), [drawn]);
  const nodes = useMemo(
    () =>
      drawn.boxes.map((box): CardNode => {
        const mark = marks?.get(box.id);
        const change = changes?.get(box.id);
        const words = [box.name, box.about, mark && t.states[stateOf(mark.status)]];
        const width = widths?.get(box.id) ?? CARD;
        const ports = outcomes?.get(box.id) ?? NO_OUTCOMES;
        return {
          id: box.id,
          type: "card",
          position: { x: box.x, y: box.y },
          width,
          height: HEIGHT,
          handles: handlesOf(width, drawn.isDown, ports),
          selected: box.id === selected,
          ariaLabel: [...words, change && t.definitions[change]].filter(Boolean).join(", "),
          data: {
            box,
            mark,
            isRun: marks !== undefined,
            isDown: drawn.isDown,
            note: notes?.get(box.id),
            change,
            outcomes: ports,
          },
        };
      }),
    [drawn, widths, outcomes, marks, notes, changes, selected],
  );
  const edges = useMemo(() => {
    const titles = titlesOf(drawn.boxes);
    const titleOf = (box: string) => titles.get(box) ?? box;
    return drawn.ways.map((way): WayEdge => {
      const taken = marks === undefined || (marks.has(way.from) && marks.has(way.to));
      const ports = outcomes?.get(way.from) ?? NO_OUTCOMES;
      const className = way.isGone ? "gone" : taken ? "taken" : "untaken";
      return {
        id: way.id,
        source: way.from,
        target: way.to,
        sourceHandle: ports.length > 0 ? wordOf(way) : undefined,
        ariaLabel: t.graph.lineFrom(titleOf(way.from), way.word, titleOf(way.to)),
        type: "way",
        data: { word: way.word, points: way.points, wordAt: way.wordAt, outcomes: ports, className },
        focusable: false,
        className,
        markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16 },
      };
    });
  }, [drawn, outcomes, marks]);
  // Where one looks first is known with the first marks; what comes later does not move the picture.
  const [focused, setFocused] = useState<string>();
  const start = startOf(drawn.boxes, drawn.ways);
  const current = currentOf(drawn.boxes, marks, start);
  if (marks && current && focused === undefined) setFocused(current.id);
  const focus = drawn.boxes.find((box) => (changes ? changes.has(box.id) : box.id === focused)) ?? start;
  const moved = useRef(false);
  const isMoved = useCallback(() => moved.current, []);
  const move = () => {
    moved.current = true;
  };
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
      onMoveStart={(event) => {
        if (event) move();
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
      <Framing key={String(isArranged)} boxes={drawn.boxes} start={start} focus={focus} isMoved={isMoved} />
      <Background gap={24} />
      <Controls
        className={isNarrow ? undefined : "at-top"}
        showInteractive={false}
        aria-label={t.graph.controls}
        fitViewOptions={FIT}
        onZoomIn={move}
        onZoomOut={move}
        onFitView={move}
      >
        {(isArranged || !drawn.isDown) && (
          <ControlButton
            title={isArranged ? t.graph.asDrawn : t.graph.arrange}
            aria-label={isArranged ? t.graph.asDrawn : t.graph.arrange}
            onClick={() => {
              moved.current = false;
              setArranged(!isArranged);
            }}
          >
            <Icon name="definitions" size={14} />
          </ControlButton>
        )}
      </Controls>
      <Overview boxes={drawn.boxes} />
    </ReactFlow>
  );
}
