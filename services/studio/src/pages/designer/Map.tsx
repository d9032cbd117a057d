import { useReactFlow, useStore, ViewportPortal } from "@xyflow/react";
import { memo, type PointerEvent, useMemo } from "react";
import type { Guide } from "../../model/guides";
import { overviewHeight, WIDTH } from "../../model/layout";
import { isCut } from "./fit";
import type { CardNode, WireEdge } from "./nodes";
import { w } from "./words";

/** From this number of cards on, there is an overview of them. */
const MANY = 13;
/** What it shows around them. */
const AROUND = 80;
/** How large it is at most, in pixels of a text as it comes. */
const WIDE = 160;
const HIGH = 112;
const REM = 16;

interface Props {
  nodes: readonly CardNode[];
  edges: readonly WireEdge[];
}

/** All lines of a huge page as one drawing, when it is seen from afar. */
export const FarLines = memo(({ nodes, edges }: Props) => {
  const path = useMemo(() => {
    const byId = new Map(nodes.map((node) => [node.id, node]));
    return edges
      .map(({ source, target, sourceHandle }) => {
        const [from, to] = [byId.get(source), byId.get(target)];
        const port = from?.handles?.find((one) => one.type === "source" && one.id === sourceHandle);
        if (!from || !to || !port) return "";
        const x = from.position.x + port.x + 5;
        const y = from.position.y + port.y + 5;
        const goal = to.position.x;
        const half = Math.max(24, Math.abs(goal - x) / 2);
        const down = to.position.y + (to.height ?? 0) / 2;
        return `M${x} ${y}C${x + half} ${y} ${goal - half} ${down} ${goal} ${down}`;
      })
      .join("");
  }, [nodes, edges]);
  return (
    <ViewportPortal>
      <svg aria-hidden="true" className="far-lines">
        <path d={path} fill="none" stroke="var(--line-strong)" strokeWidth={2.5} />
      </svg>
    </ViewportPortal>
  );
});
FarLines.displayName = "FarLines";

/** The lines along which what is dragged stands now. */
export function Guides({ guides }: { guides: readonly Guide[] }) {
  return (
    <ViewportPortal>
      <svg aria-hidden="true" className="far-lines" data-guides={guides.length}>
        {guides.map(({ along, at, from, to, isDrop }) => (
          <path
            key={along}
            d={along === "x" ? `M${from - 24} ${at}H${to + 24}` : `M${at} ${from - 24}V${to + 24}`}
            stroke="var(--accent)"
            strokeDasharray={isDrop ? undefined : "4 3"}
            strokeWidth={isDrop ? 2 : 1}
            vectorEffect="non-scaling-stroke"
          />
        ))}
      </svg>
    </ViewportPortal>
  );
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The corners of a page, with what is free around its cards. */
function boundsOf(nodes: readonly CardNode[], around: number): Box {
  const x = Math.min(...nodes.map((node) => node.position.x));
  const y = Math.min(...nodes.map((node) => node.position.y));
  const width = Math.max(...nodes.map((node) => node.position.x)) + WIDTH - x;
  const height = Math.max(...nodes.map((node) => node.position.y + (node.height ?? 0))) - y;
  return { x: x - around, y: y - around, width: width + 2 * around, height: height + 2 * around };
}

const Drawn = memo(({ nodes }: { nodes: readonly CardNode[] }) => {
  const path = nodes
    .map(({ position, height }) => `M${position.x} ${position.y}h${WIDTH}v${height ?? 0}h${-WIDTH}z`)
    .join("");
  // In the overview of a very long flow an activity is thinner than a pixel: its edge is not.
  return (
    <path
      d={path}
      fill="var(--line-strong)"
      stroke="var(--line-strong)"
      strokeWidth={2}
      vectorEffect="non-scaling-stroke"
    />
  );
});
Drawn.displayName = "Drawn";

function Seen() {
  const seen = useStore(
    ({ transform: [x, y, zoom], width, height }) =>
      `${-x / zoom} ${-y / zoom} ${width / zoom} ${height / zoom}`,
  );
  const [x, y, width, height] = seen.split(" ").map(Number);
  return (
    <rect
      x={x}
      y={y}
      width={width}
      height={height}
      fill="var(--accent)"
      fillOpacity={0.1}
      stroke="var(--accent)"
      strokeWidth={2}
      vectorEffect="non-scaling-stroke"
    />
  );
}

/** The whole page, small: of a large one, and of one that opens with its beginning, which shows that there is more. */
export function Overview({ nodes }: { nodes: readonly CardNode[] }) {
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const hasMore = useMemo(
    () => nodes.length > 0 && isCut(boundsOf(nodes, 0), { width, height }),
    [nodes, width, height],
  );
  if (!hasMore && nodes.length < MANY) return null;
  return <Small nodes={nodes} isHiddenOnPhone={!hasMore} />;
}

/** A press or a drag moves the canvas there. */
function Small({ nodes, isHiddenOnPhone }: { nodes: readonly CardNode[]; isHiddenOnPhone: boolean }) {
  const flow = useReactFlow();
  const box = useMemo(() => boundsOf(nodes, AROUND), [nodes]);
  const go = (event: PointerEvent<SVGSVGElement>) => {
    const matrix = event.currentTarget.getScreenCTM();
    if (!matrix || event.buttons === 0) return;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    void flow.setCenter(at.x, at.y, { zoom: flow.getZoom() });
  };
  return (
    <svg
      role="img"
      aria-label={w.overview}
      viewBox={`${box.x} ${box.y} ${box.width} ${box.height}`}
      style={{ height: `${overviewHeight(box, WIDE, HIGH) / REM}rem` }}
      className={`absolute right-4 bottom-4 z-5 w-40 cursor-pointer rounded-md border border-line bg-raised ${isHiddenOnPhone ? "max-md:hidden" : "max-md:max-h-16 max-md:w-24"}`}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        go(event);
      }}
      onPointerMove={go}
    >
      <Drawn nodes={nodes} />
      <Seen />
    </svg>
  );
}
