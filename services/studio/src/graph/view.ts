import { type Box, HEIGHT, type Mark, WIDTH } from "./outline";

/** What is at the top left, and how large: a point of the graph is seen at `point * zoom + x`. */
export interface View {
  x: number;
  y: number;
  zoom: number;
}

interface Size {
  width: number;
  height: number;
}

/** A graph that would be smaller than this is shown in part. */
const READABLE = 0.35;
const ZOOM = 0.8;
/** What is left free around the graph, in pixels. */
const MARGIN = 40;

/** The activity that one looks for: what failed, waits or runs, or else what ran last; the first one before that. */
export function currentOf(
  boxes: readonly Box[],
  marks: ReadonlyMap<string, Mark> | undefined,
): Box | undefined {
  const isOpen = (status: string) => (box: Box) => marks?.get(box.id)?.status === status;
  for (const status of ["Faulted", "Suspended", "Running"]) {
    const found = boxes.find(isOpen(status));
    if (found) return found;
  }
  return boxes.findLast((box) => marks?.has(box.id)) ?? boxes[0];
}

/** Where a window begins along one axis: at what is looked for, with the first box in it where both have room, and with no empty margin. */
function beginOf(low: number, high: number, focus: number, first: number, side: number, room: number) {
  const margin = MARGIN / ZOOM;
  if (high - low + 2 * margin <= room) return (low + high - room) / 2;
  const centred = focus + side / 2 - room / 2;
  const withFirst = first - margin;
  const hasBoth = focus >= first && focus + side <= withFirst + room;
  const begin = hasBoth ? Math.min(centred, withFirst) : centred;
  return Math.min(Math.max(begin, low - margin), high + margin - room);
}

/** The whole graph; one that would be too small to be read is shown where one looks first. */
export function viewOf(boxes: readonly Box[], focus: Box | undefined, { width, height }: Size): View {
  const [first] = boxes;
  if (!first) return { x: 0, y: 0, zoom: 1 };
  const low = { x: Math.min(...boxes.map((box) => box.x)), y: Math.min(...boxes.map((box) => box.y)) };
  const high = {
    x: Math.max(...boxes.map((box) => box.x)) + WIDTH,
    y: Math.max(...boxes.map((box) => box.y)) + HEIGHT,
  };
  const fit = Math.min((width - 2 * MARGIN) / (high.x - low.x), (height - 2 * MARGIN) / (high.y - low.y), 1);
  if (fit >= READABLE) {
    return {
      x: width / 2 - ((low.x + high.x) / 2) * fit,
      y: height / 2 - ((low.y + high.y) / 2) * fit,
      zoom: fit,
    };
  }
  const at = focus ?? first;
  const x = beginOf(low.x, high.x, at.x, first.x, WIDTH, width / ZOOM);
  const y = beginOf(low.y, high.y, at.y, first.y, HEIGHT, height / ZOOM);
  return { x: -x * ZOOM, y: -y * ZOOM, zoom: ZOOM };
}

/** A line through the points of the layout, with round corners. */
export function through(points: { x: number; y: number }[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  const parts = rest.map((point, at) => {
    const next = rest[at + 1];
    if (!next) return `L ${point.x} ${point.y}`;
    return `Q ${point.x} ${point.y} ${(point.x + next.x) / 2} ${(point.y + next.y) / 2}`;
  });
  return `M ${first.x} ${first.y} ${parts.join(" ")}`;
}
