import { childrenMember, type Entry, type Index, idOf } from "./activities";
import type { Edit } from "./history";
import { type Json, type Members, membersOf } from "./json";
import { emptyFlowchart, newId } from "./make";
import { listOfEntry } from "./order";
import { type Path, valueAt } from "./patch";
import { stateName, transition } from "./states";
import { Steps } from "./steps";
import { type Ends, endsOf, type Line, type PageView, type Point, placeOf } from "./view";

/** How to join a new activity to what is there. */
export interface Joined {
  /** After this activity, from this outcome. */
  after?: { key: string; port: string };
  /** Before this activity, which it leads to from this outcome. */
  before?: { key: string; port: string };
  /** In the middle of this line; `port` is the outcome that goes on. */
  line?: { line: Line; port: string };
  at?: Point;
}

function place(activity: Members, at: Point | undefined): Members {
  if (!at) return activity;
  const designer = { ...membersOf(membersOf(activity.metadata)?.designer), position: { x: at.x, y: at.y } };
  return { ...activity, metadata: { ...membersOf(activity.metadata), designer } };
}

export function connection(source: string, port: string, target: string): Members {
  return { source: { activity: source, port }, target: { activity: target, port: "In" } };
}

const idAt = (index: Index, key: string): string => {
  const entry = index.get(key);
  return entry ? idOf(entry.activity) || key : key;
};

function joinInFlow(steps: Steps, index: Index, view: PageView, id: string, how: Joined): void {
  const lines = [...view.path, "connections"];
  if (how.after) steps.append(lines, connection(idAt(index, how.after.key), how.after.port, id));
  if (how.before) steps.append(lines, connection(id, how.before.port, idAt(index, how.before.key)));
  const cut = how.line?.line;
  if (!how.line || cut?.index === undefined) return;
  steps.set([...lines, cut.index], connection(cut.from, cut.port, id));
  steps.append(lines, connection(id, how.line.port, cut.to));
}

function listPlace(view: PageView, how: Joined): number {
  const at = (key: string | undefined) => view.items.findIndex((item) => item.key === key);
  if (how.line) return at(how.line.line.to);
  if (how.after) return at(how.after.key) + 1;
  if (how.before) return at(how.before.key);
  return view.items.length;
}

/** Adds an activity to a page. A place that holds one activity, or none, becomes a flowchart. */
export function addActivity(
  index: Index,
  view: PageView,
  activity: Members,
  how: Joined,
  label: string,
): Edit {
  const steps = new Steps(index.doc);
  const id = idOf(activity);
  if (view.kind === "flow") {
    steps.append([...view.path, "activities"], place(activity, how.at));
    joinInFlow(steps, index, view, id, how);
  } else if (view.kind === "list" && view.inside) {
    const member = [...view.path, childrenMember(view.inside) ?? "activities"];
    if (Array.isArray(valueAt(index.doc, member)))
      steps.insert([...member, Math.max(0, listPlace(view, how))], activity);
    else steps.set(member, [activity]);
  } else {
    const flow = emptyFlowchart(newId());
    const held = view.inside;
    flow.activities = held
      ? [place(held, placeOf(held) ?? { x: 0, y: 0 }), place(activity, how.at ?? { x: 272, y: 0 })]
      : [place(activity, how.at)];
    flow.connections = held && how.after ? [connection(idOf(held), how.after.port, id)] : [];
    steps.setDeep(view.path, flow);
  }
  return steps.edit(label, { select: [id] });
}

export function connect(
  index: Index,
  view: PageView,
  from: string,
  port: string,
  to: string,
  label: string,
): Edit {
  const steps = new Steps(index.doc);
  if (view.kind === "machine") {
    steps.append([...view.path, "transitions"], transition(stateName(from), stateName(to)));
  } else if (
    view.kind === "flow" &&
    !view.lines.some((line) => line.from === from && line.port === port && line.to === to)
  ) {
    steps.append([...view.path, "connections"], connection(idAt(index, from), port, idAt(index, to)));
  }
  return steps.edit(label);
}

/** Gives a connection other ends, in the form that it has; its bends are left out. */
export function reconnect(
  index: Index,
  view: PageView,
  line: Line,
  ends: Partial<Ends>,
  label: string,
): Edit {
  const steps = new Steps(index.doc);
  if (line.index === undefined || view.kind !== "flow") return steps.edit(label);
  const path = [...view.path, "connections", line.index];
  const was = membersOf(valueAt(index.doc, path)) ?? {};
  const next = { ...endsOf(was), ...ends };
  if (membersOf(was.source)) {
    const source = { ...membersOf(was.source), activity: next.source, port: next.port };
    const target = { ...membersOf(was.target), activity: next.target, port: next.targetPort };
    const { vertices: _, ...rest } = was;
    steps.set(path, { ...rest, source, target });
  } else {
    steps.set(path, {
      ...was,
      source: next.source,
      target: next.target,
      sourcePort: next.port,
      targetPort: next.targetPort,
    });
  }
  return steps.edit(label);
}

function removeAll(steps: Steps, path: Path, indexes: readonly number[]): void {
  for (const at of [...new Set(indexes)].sort((one, other) => other - one)) steps.remove([...path, at]);
}

/** Removes activities and their lines, and other lines. */
export function remove(
  index: Index,
  view: PageView,
  keys: readonly string[],
  lines: readonly string[],
  label: string,
): Edit {
  const steps = new Steps(index.doc);
  const gone = new Set(keys);
  const cut = view.lines.flatMap((line) => {
    const isCut = lines.includes(line.id) || gone.has(line.from) || gone.has(line.to);
    return isCut && line.index !== undefined ? [line.index] : [];
  });
  removeAll(steps, [...view.path, view.kind === "machine" ? "transitions" : "connections"], cut);
  const items = view.items.filter((item) => gone.has(item.key));
  if (view.kind === "single" && items.length > 0 && view.path.join("/") !== "root") steps.remove(view.path);
  else if (view.kind === "single" && items.length > 0) steps.set(view.path, emptyFlowchart(newId()));
  else {
    removeAll(
      steps,
      items[0]?.path.slice(0, -1) ?? [],
      items.map((item) => Number(item.path.at(-1))),
    );
  }
  return steps.edit(label, { select: [] });
}

const MANY = 20;

/** Puts activities where they are to be shown. */
export function move(index: Index, view: PageView, points: ReadonlyMap<string, Point>, label: string): Edit {
  const steps = new Steps(index.doc);
  const moved = view.items.filter((item) => points.has(item.key) && view.kind !== "list");
  const list = moved[0]?.path.slice(0, -1) ?? [];
  const all = valueAt(index.doc, list);
  const rounded = (key: string): Point => {
    const { x, y } = points.get(key) ?? { x: 0, y: 0 };
    return { x: Math.round(x), y: Math.round(y) };
  };
  if (moved.length > MANY && Array.isArray(all)) {
    const next = [...all];
    for (const item of moved) {
      const at = Number(item.path.at(-1));
      const held = membersOf(next[at]);
      if (held) next[at] = place(held, rounded(item.key));
    }
    steps.set(list, next);
  } else {
    for (const item of moved)
      steps.setDeep([...item.path, "metadata", "designer", "position"], { ...rounded(item.key) });
  }
  return steps.edit(label);
}

/** Puts an activity that is there into the middle of a line. */
export function insertInto(
  index: Index,
  view: PageView,
  key: string,
  how: { line: Line; port: string; at: Point },
  label: string,
): Edit {
  const steps = new Steps(index.doc);
  const item = view.items.find((one) => one.key === key);
  const { line, port, at } = how;
  if (view.kind !== "flow" || line.index === undefined || !item) return steps.edit(label);
  const id = idAt(index, key);
  const lines = [...view.path, "connections"];
  steps.set([...lines, line.index], connection(line.from, line.port, id));
  steps.append(lines, connection(id, port, line.to));
  steps.setDeep([...item.path, "metadata", "designer", "position"], {
    x: Math.round(at.x),
    y: Math.round(at.y),
  });
  return steps.edit(label, { select: [key] });
}

/** Moves an activity of a list up or down, by so many places; a case goes with its activity. */
export function reorder(index: Index, key: string, by: number, label: string): Edit {
  const steps = new Steps(index.doc);
  const list = listOfEntry(index, key);
  const from = list.findIndex((one) => one.key === key);
  const [place, goal] = [list[from], list[from + by]];
  const held = place && valueAt(index.doc, place.path);
  if (by === 0 || !place || !goal || held === undefined) return steps.edit(label);
  steps.remove(place.path).insert(goal.path, held);
  return steps.edit(label, { select: [key] });
}

/** Sets a member of an activity, or removes it. */
export function setMember(
  index: Index,
  entry: Pick<Entry, "path">,
  member: Path,
  value: Json | undefined,
  label: string,
): Edit {
  const path = [...entry.path, ...member];
  const steps = new Steps(index.doc);
  if (value === undefined) steps.remove(path);
  else steps.setDeep(path, value);
  return steps.edit(label, { merge: `set ${path.join("/")}` });
}
