import dagre from "@dagrejs/dagre";
import { typeName } from "../lib/format";

/** What is drawn of a workflow: its activities as boxes, and the ways between them. */
export interface Box {
  id: string;
  name: string;
  type: string;
  x: number;
  y: number;
}

export interface Way {
  id: string;
  from: string;
  to: string;
  word: string;
}

export interface Outline {
  boxes: Box[];
  ways: Way[];
}

export const WIDTH = 200;
export const HEIGHT = 56;

type Members = Record<string, unknown>;

function members(value: unknown): Members | undefined {
  return value !== null && typeof value === "object" && !Array.isArray(value)
    ? (value as Members)
    : undefined;
}

const text = (value: unknown) => (typeof value === "string" ? value : "");

function isActivity(value: unknown): value is Members {
  const one = members(value);
  return Boolean(one && text(one.id) && text(one.type) && !("typeName" in one));
}

/** The activities inside another one, each with the port that leads to it. */
function children(activity: Members): [string, Members][] {
  return Object.entries(activity).flatMap(([port, value]): [string, Members][] => {
    if (isActivity(value)) return [[port, value]];
    if (!Array.isArray(value)) return [];
    return value.flatMap((one: unknown): [string, Members][] => {
      if (isActivity(one)) return [[port, one]];
      const held = members(one);
      return held && isActivity(held.activity) ? [[text(held.label) || port, held.activity]] : [];
    });
  });
}

function nameOf(activity: Members): string {
  const shown = text(members(activity.metadata)?.displayText);
  return text(activity.name) || shown || text(activity.id);
}

function placeOf(activity: Members): { x: number; y: number } | undefined {
  const place = members(members(members(activity.metadata)?.designer)?.position);
  return typeof place?.x === "number" && typeof place.y === "number" ? { x: place.x, y: place.y } : undefined;
}

const isFlow = (activity: Members) => /(^|\.)Flowchart$/.test(text(activity.type));
const isSequence = (activity: Members) => /(^|\.)Sequence$/.test(text(activity.type));

class Drawing {
  readonly boxes = new Map<string, Box>();
  readonly ways: Way[] = [];
  isNested = false;

  private way(from: string, to: string, word: string): void {
    this.ways.push({ id: `${from}|${word}|${to}|${this.ways.length}`, from, to, word });
  }

  /** Draws an activity and what is in it, and says with which boxes it begins. */
  draw(activity: Members): string[] {
    if (isFlow(activity)) return this.flow(activity);
    if (isSequence(activity)) return this.sequence(activity);
    const id = text(activity.id);
    const place = placeOf(activity) ?? { x: Number.NaN, y: Number.NaN };
    this.boxes.set(id, { id, name: nameOf(activity), type: typeName(text(activity.type)), ...place });
    for (const [port, child] of children(activity)) {
      this.isNested = true;
      for (const first of this.draw(child)) this.way(id, first, port);
    }
    return [id];
  }

  private sequence(activity: Members): string[] {
    const all = Array.isArray(activity.activities) ? activity.activities.filter(isActivity) : [];
    let begin: string[] = [];
    let before: string[] = [];
    for (const child of all) {
      const firsts = this.draw(child);
      for (const from of before) for (const to of firsts) this.way(from, to, "");
      if (begin.length === 0) begin = firsts;
      if (firsts.length > 0) before = firsts;
    }
    return begin;
  }

  private flow(activity: Members): string[] {
    const all = Array.isArray(activity.activities) ? activity.activities.filter(isActivity) : [];
    const firsts = new Map(all.map((child) => [text(child.id), this.draw(child)]));
    const reached = new Set<string>();
    const connections: unknown[] = Array.isArray(activity.connections) ? activity.connections : [];
    for (const connection of connections) {
      const source = members(members(connection)?.source);
      const target = members(members(connection)?.target);
      const port = text(source?.port);
      const goal = text(target?.activity);
      reached.add(goal);
      for (const from of firsts.get(text(source?.activity)) ?? []) {
        for (const to of firsts.get(goal) ?? []) this.way(from, to, port === "Done" ? "" : port);
      }
    }
    const begin = all.filter((child) => !reached.has(text(child.id)));
    return (begin.length ? begin : all.slice(0, 1)).flatMap((child) => firsts.get(text(child.id)) ?? []);
  }
}

function arrange(boxes: Box[], ways: Way[]): Box[] {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 40, ranksep: 48 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const box of boxes) graph.setNode(box.id, { width: WIDTH, height: HEIGHT });
  for (const way of ways) graph.setEdge(way.from, way.to, {}, way.id);
  dagre.layout(graph);
  return boxes.map((box) => {
    const place = graph.node(box.id);
    return { ...box, x: (place.x ?? 0) - WIDTH / 2, y: (place.y ?? 0) - HEIGHT / 2 };
  });
}

function overlap(boxes: Box[]): boolean {
  return boxes.some((one, at) =>
    boxes
      .slice(at + 1)
      .some((other) => Math.abs(one.x - other.x) < WIDTH && Math.abs(one.y - other.y) < HEIGHT),
  );
}

/** Places of the designer are kept where all activities have one and none would hide another. */
export function outline(root: unknown): Outline {
  if (!isActivity(root)) return { boxes: [], ways: [] };
  const drawing = new Drawing();
  drawing.draw(root);
  const boxes = [...drawing.boxes.values()];
  const isPlaced = !drawing.isNested && boxes.every((box) => !Number.isNaN(box.x)) && !overlap(boxes);
  return { boxes: isPlaced ? boxes : arrange(boxes, drawing.ways), ways: drawing.ways };
}
