import { turnOf } from "../model/layout";
import { withId } from "./activities";
import { type Box, HEIGHT, type Mark, type Way, WIDTH } from "./outline";

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

/** The box with which a workflow begins: the one at the left, or at the top, of those to which no way leads. */
export function startOf(boxes: readonly Box[], ways: readonly Way[]): Box | undefined {
  const reached = new Set(ways.map(({ to }) => to));
  const starts = boxes.filter(({ id }) => !reached.has(id));
  const all = starts.length > 0 ? starts : boxes.slice(0, 1);
  return [...all].sort((one, other) => one.x - other.x || one.y - other.y)[0];
}

/** The activity that one looks for: what failed, waits or runs, or else what ran last; the first one before that. */
export function currentOf(
  boxes: readonly Box[],
  marks: ReadonlyMap<string, Mark> | undefined,
  first = boxes[0],
): Box | undefined {
  const isOpen = (status: string) => (box: Box) => marks?.get(box.id)?.status === status;
  for (const status of ["Faulted", "Suspended", "Running"]) {
    const found = boxes.find(isOpen(status));
    if (found) return found;
  }
  return boxes.findLast((box) => marks?.has(box.id)) ?? first;
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

/** The corners of what is drawn, and how large it is where all of it is seen. */
function wholeOf(boxes: readonly Box[], { width, height }: Size) {
  const low = { x: Math.min(...boxes.map((box) => box.x)), y: Math.min(...boxes.map((box) => box.y)) };
  const high = {
    x: Math.max(...boxes.map((box) => box.x)) + WIDTH,
    y: Math.max(...boxes.map((box) => box.y)) + HEIGHT,
  };
  const zoom = Math.min((width - 2 * MARGIN) / (high.x - low.x), (height - 2 * MARGIN) / (high.y - low.y), 1);
  return { low, high, zoom };
}

/** Whether a graph opens with a part of it, as all of it would be too small to be read. */
export const isCut = (boxes: readonly Box[], size: Size): boolean =>
  boxes.length > 0 && size.width > 0 && size.height > 0 && wholeOf(boxes, size).zoom < READABLE;

/** The whole graph; one that would be too small to be read is shown where one looks first. */
export function viewOf(
  boxes: readonly Box[],
  focus: Box | undefined,
  { width, height }: Size,
  first = boxes[0],
): View {
  if (!first) return { x: 0, y: 0, zoom: 1 };
  const { low, high, zoom } = wholeOf(boxes, { width, height });
  if (zoom >= READABLE) {
    return {
      x: width / 2 - ((low.x + high.x) / 2) * zoom,
      y: height / 2 - ((low.y + high.y) / 2) * zoom,
      zoom,
    };
  }
  const at = focus ?? first;
  const x = beginOf(low.x, high.x, at.x, first.x, WIDTH, width / ZOOM);
  const y = beginOf(low.y, high.y, at.y, first.y, HEIGHT, height / ZOOM);
  return { x: -x * ZOOM, y: -y * ZOOM, zoom: ZOOM };
}

/** The word of a way that has none: the outcome that most activities have alone. */
export const wordOf = ({ word }: Pick<Way, "word">): string => word || "Done";

/**
 * The outcomes of each box from which several lead on, from top to bottom: in the order of where they lead, so that
 * their lines do not cross.
 */
export function outcomesBy(boxes: readonly Box[], ways: readonly Way[]): ReadonlyMap<string, string[]> {
  const heights = new Map(boxes.map((box) => [box.id, box.y]));
  const goals = new Map<string, Map<string, number>>();
  for (const way of ways) {
    const words = goals.get(way.from) ?? new Map<string, number>();
    const y = heights.get(way.to) ?? 0;
    words.set(wordOf(way), Math.min(words.get(wordOf(way)) ?? y, y));
    goals.set(way.from, words);
  }
  return new Map(
    [...goals].flatMap(([id, words]) =>
      words.size < 2
        ? []
        : [[id, [...words].sort(([, one], [, other]) => one - other).map(([word]) => word)]],
    ),
  );
}

/** The names of boxes by their ids: with the id beside it where others have the same name. */
export function titlesOf(boxes: readonly Box[]): ReadonlyMap<string, string> {
  const counts = new Map<string, number>();
  for (const { name } of boxes) counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Map(boxes.map(({ id, name }) => [id, (counts.get(name) ?? 0) > 1 ? withId(name, id) : name]));
}

/** Where a line turns between two boxes: in the middle, but past the words of the outcomes beside the first one. */
export function turnBetween(from: number, to: number, outcomes: readonly string[]): number {
  // The word of a single way stands there, too.
  const past = turnOf([...outcomes, ""]);
  return from + Math.max((to - from) / 2, Math.min(past, to - from - MARGIN / 2));
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
