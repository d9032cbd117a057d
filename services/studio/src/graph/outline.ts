import dagre from "@dagrejs/dagre";
import { typeName } from "../lib/format";
import {
  aboutOf,
  activitiesIn,
  children,
  isActivity,
  type Members,
  members,
  nameOf,
  text,
} from "./activities";
import { inAddedOrder } from "./siblings";
import type { TypeWords } from "./words";

/** What happened to an activity. */
export interface Mark {
  status: string;
  runs: number;
  /** How long its last execution took, in milliseconds, where that is known. */
  ms?: number;
}

/** What is drawn of a workflow: its activities as boxes, and the ways between them. */
export interface Box {
  id: string;
  name: string;
  /** What stands below its name. */
  about: string;
  x: number;
  y: number;
}

export interface Way {
  id: string;
  from: string;
  to: string;
  word: string;
  /** It leads to or from an activity that is not in the workflow any more. */
  isGone?: boolean;
  /** Where the way turns, if the layout says so. */
  points?: { x: number; y: number }[];
  /** Where its word stands, if the layout keeps a place for it. */
  wordAt?: { x: number; y: number };
}

export interface Outline {
  boxes: Box[];
  ways: Way[];
  /** The designer draws from left to right; without its places, ways lead down. */
  isDown: boolean;
}

export const WIDTH = 200;
export const HEIGHT = 56;
/** A card is drawn narrower than its place: the line between two places side by side is to be seen. */
export const CARD = 180;

function placeOf(activity: Members): { x: number; y: number } | undefined {
  const place = members(members(members(activity.metadata)?.designer)?.position);
  return typeof place?.x === "number" && typeof place.y === "number" ? { x: place.x, y: place.y } : undefined;
}

const isFlow = (activity: Members) => /(^|\.)Flowchart$/.test(text(activity.type));
const isSequence = (activity: Members) => /(^|\.)Sequence$/.test(text(activity.type));

function activitiesOf(activity: Members): Members[] {
  return Array.isArray(activity.activities) ? activity.activities.filter(isActivity) : [];
}

/** A connection in the form of today, or in the first one: with ids as texts. */
function connectionOf(value: unknown): { source: string; target: string; port: string } {
  const connection = members(value);
  const source = members(connection?.source);
  const target = members(connection?.target);
  return {
    source: text(source?.activity) || text(connection?.source),
    target: text(target?.activity) || text(connection?.target),
    port: text(source?.port) || text(connection?.sourcePort),
  };
}

/** The outcomes of an activity from which the lines of its flowchart lead on. */
export function portsOf(root: unknown, activity: string): string[] {
  const flows = [...activitiesIn(root).values()].filter(isFlow);
  const connections = flows.flatMap((flow) => (Array.isArray(flow.connections) ? flow.connections : []));
  const ports = connections.map(connectionOf).filter(({ source }) => source === activity);
  return [...new Set(ports.map(({ port }) => port || "Done"))];
}

/** The boxes with which something drawn begins and ends. */
interface Ends {
  begin: string[];
  end: string[];
}

class Drawing {
  readonly boxes = new Map<string, Box>();
  readonly ways: Way[] = [];
  isNested = false;

  constructor(readonly words: TypeWords) {}

  private way(from: string, to: string, word: string): void {
    this.ways.push({ id: `${from}|${word}|${to}|${this.ways.length}`, from, to, word });
  }

  /** Draws an activity and what is in it. */
  draw(activity: Members): Ends {
    if (isFlow(activity)) return this.flow(activity);
    if (isSequence(activity)) return this.sequence(activity);
    const id = text(activity.id);
    const place = placeOf(activity) ?? { x: Number.NaN, y: Number.NaN };
    const [name, about] = [nameOf(activity, this.words), aboutOf(activity, this.words)];
    this.boxes.set(id, { id, name, about, ...place });
    for (const [port, child] of children(activity)) {
      this.isNested = true;
      for (const first of this.draw(child).begin) this.way(id, first, port);
    }
    return { begin: [id], end: [id] };
  }

  private sequence(activity: Members): Ends {
    let begin: string[] = [];
    let end: string[] = [];
    for (const child of activitiesOf(activity)) {
      const next = this.draw(child);
      for (const from of end) for (const to of next.begin) this.way(from, to, "");
      if (begin.length === 0) begin = next.begin;
      if (next.end.length > 0) end = next.end;
    }
    return { begin, end };
  }

  private flow(activity: Members): Ends {
    const all = activitiesOf(activity);
    const ends = new Map(all.map((child) => [text(child.id), this.draw(child)]));
    const left = new Set<string>();
    const reached = new Set<string>();
    const connections: unknown[] = Array.isArray(activity.connections) ? activity.connections : [];
    for (const connection of connections) {
      const { source, target, port } = connectionOf(connection);
      left.add(source);
      reached.add(target);
      for (const from of ends.get(source)?.end ?? []) {
        for (const to of ends.get(target)?.begin ?? []) this.way(from, to, port === "Done" ? "" : port);
      }
    }
    const firsts = all.filter((child) => !reached.has(text(child.id)));
    const lasts = all.filter((child) => !left.has(text(child.id)));
    return {
      begin: (firsts.length ? firsts : all.slice(0, 1)).flatMap(
        (child) => ends.get(text(child.id))?.begin ?? [],
      ),
      end: lasts.flatMap((child) => ends.get(text(child.id))?.end ?? []),
    };
  }
}

function arrange(boxes: Box[], ways: Way[]): Outline {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  // The finest ranks cost a second for a thousand boxes.
  const ranker = boxes.length > 300 ? "longest-path" : "network-simplex";
  graph.setGraph({ rankdir: "TB", nodesep: 40, ranksep: 44, ranker });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const box of boxes) graph.setNode(box.id, { width: WIDTH, height: HEIGHT });
  for (const way of ways) {
    const label = way.word ? { width: way.word.length * 7 + 16, height: 16, labelpos: "c" } : {};
    graph.setEdge(way.from, way.to, label, way.id);
  }
  dagre.layout(graph, { customOrder: inAddedOrder });
  return {
    boxes: boxes.map((box) => {
      const place = graph.node(box.id);
      return { ...box, x: (place.x ?? 0) - WIDTH / 2, y: (place.y ?? 0) - HEIGHT / 2 };
    }),
    ways: ways.map((way) => {
      const { points, x, y } = graph.edge(way.from, way.to, way.id);
      return {
        ...way,
        points,
        ...(way.word && x !== undefined && y !== undefined ? { wordAt: { x, y } } : {}),
      };
    }),
    isDown: true,
  };
}

function overlap(boxes: Box[]): boolean {
  return boxes.some((one, at) =>
    boxes
      .slice(at + 1)
      .some((other) => Math.abs(one.x - other.x) < WIDTH && Math.abs(one.y - other.y) < HEIGHT),
  );
}

/** Adds the activities of an earlier version that are not there any more, with their ways. */
function addGone(drawing: Drawing, before: Members): void {
  const old = new Drawing(drawing.words);
  old.draw(before);
  const gone = new Set([...old.boxes.keys()].filter((id) => !drawing.boxes.has(id)));
  for (const id of gone) {
    const box = old.boxes.get(id);
    if (box) drawing.boxes.set(id, box);
  }
  for (const way of old.ways) {
    if (gone.has(way.from) || gone.has(way.to))
      drawing.ways.push({ ...way, id: `gone|${way.id}`, isGone: true });
  }
  drawing.isNested ||= old.isNested;
}

/**
 * Places of the designer are kept where all activities have one and none would hide another.
 * With an earlier version, what it has and this one has not is drawn, too.
 */
export function outline(
  root: unknown,
  isArranged = false,
  before?: unknown,
  words: TypeWords = typeName,
): Outline {
  if (!isActivity(root)) return { boxes: [], ways: [], isDown: true };
  const drawing = new Drawing(words);
  drawing.draw(root);
  if (isActivity(before)) addGone(drawing, before);
  const boxes = [...drawing.boxes.values()];
  const isPlaced =
    !isArranged && !drawing.isNested && boxes.every((box) => !Number.isNaN(box.x)) && !overlap(boxes);
  return isPlaced ? { boxes, ways: drawing.ways, isDown: false } : arrange(boxes, drawing.ways);
}
