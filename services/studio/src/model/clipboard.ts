import { childrenMember, type Index, idOf, isActivity, isFlowchart, typeOf } from "./activities";
import type { Edit } from "./history";
import {
  isMembers,
  type Json,
  listOf,
  type Members,
  membersOf,
  namesOf,
  objectOf,
  readText,
  textOf,
  writeText,
} from "./json";
import { emptyFlowchart, freeName, newId } from "./make";
import { valueAt } from "./patch";
import { addStates } from "./states";
import { Steps } from "./steps";
import { endsOf, type PageView, type Point, placeOf } from "./view";

/** Activities and the lines between them, as they are copied: JSON that another workflow takes. */
export interface Clip {
  activities: Members[];
  connections: Json[];
  /** States of a machine, with the transitions between them. */
  states?: Members[];
  transitions?: Json[];
}

export const isEmpty = (clip: Clip): boolean => clip.activities.length === 0 && !clip.states?.length;

function statesOf(view: PageView, keys: readonly string[]): Clip {
  const states = view.items.flatMap((item) => (item.state && keys.includes(item.key) ? [item.state] : []));
  const names = new Set(states.map((state) => textOf(state.name)));
  const transitions = listOf(view.inside?.transitions).filter((one) => {
    const ends = membersOf(one);
    return names.has(textOf(ends?.from)) && names.has(textOf(ends?.to));
  });
  return { activities: [], connections: [], states, transitions };
}

export function clipOf(view: PageView, keys: readonly string[]): Clip {
  if (view.kind === "machine") return statesOf(view, keys);
  const items = view.items.filter((item) => item.entry && keys.includes(item.key));
  const ids = new Set(items.flatMap((item) => (item.entry ? [idOf(item.entry.activity)] : [])));
  const connections = view.kind === "flow" ? listOf(view.inside?.connections) : [];
  return {
    activities: items.flatMap((item) => (item.entry ? [item.entry.activity] : [])),
    connections: connections.filter((one) => ids.has(endsOf(one).source) && ids.has(endsOf(one).target)),
  };
}

export const clipText = ({ activities, connections, states, transitions }: Clip): string =>
  writeText(states ? { states, transitions: transitions ?? [] } : { activities, connections });

/** Reads copied text: a clip, one activity, a list of activities or states, or a whole definition. */
export function readClip(text: string): Clip | undefined {
  let value: Json;
  try {
    value = readText(text);
  } catch {
    return undefined;
  }
  if (isActivity(value)) return { activities: [value], connections: [] };
  const inside = membersOf(membersOf(value)?.root) ?? membersOf(value);
  const activities = (Array.isArray(value) ? value : listOf(inside?.activities)).filter(isActivity);
  if (activities.length > 0) return { activities, connections: listOf(inside?.connections) };
  const states = listOf(inside?.states).flatMap((one) => {
    const state = membersOf(one);
    return state && textOf(state.name) ? [state] : [];
  });
  if (states.length === 0) return undefined;
  return { activities, connections: [], states, transitions: listOf(inside?.transitions) };
}

function idsIn(activity: Json, into: Map<string, string>, make: () => string): void {
  const walk = (value: Json): void => {
    if (Array.isArray(value)) value.forEach(walk);
    else if (isMembers(value)) {
      if (isActivity(value) && idOf(value)) into.set(idOf(value), make());
      for (const name of Object.keys(value)) walk(value[name] ?? null);
    }
  };
  walk(activity);
}

function withIds(value: Json, ids: ReadonlyMap<string, string>, isId = false): Json {
  if (typeof value === "string") {
    if (!isId) return value;
    const colon = value.indexOf(":");
    const owner = colon < 0 ? value : value.slice(0, colon);
    const next = ids.get(owner);
    return next === undefined ? value : next + value.slice(owner.length);
  }
  if (Array.isArray(value)) return value.map((item) => withIds(item, ids));
  if (!isMembers(value)) return value;
  const isNode = isActivity(value);
  const isEnds =
    isMembers(value.source) || isMembers(value.target) || ("source" in value && "target" in value);
  return objectOf(
    namesOf(value).flatMap((name): [string, Json][] => {
      const inner = value[name] ?? null;
      if (isNode && name === "nodeId") return [];
      if (name === "memoryReference") return [[name, withReference(inner, ids)]];
      const isReference =
        (isNode && (name === "id" || name === "start")) ||
        name === "activity" ||
        (isEnds && (name === "source" || name === "target"));
      return [[name, withIds(inner, ids, isReference)]];
    }),
  );
}

function withReference(reference: Json, ids: ReadonlyMap<string, string>): Json {
  const one = membersOf(reference);
  return one ? { ...one, id: withIds(one.id ?? null, ids, true) } : reference;
}

/** A copy with ids of its own, and names that no other activity has. */
export function copyOf(clip: Clip, index: Index, make: () => string = newId): Clip {
  const ids = new Map<string, string>();
  for (const one of [...clip.activities, ...(clip.states ?? []), ...(clip.transitions ?? [])])
    idsIn(one, ids, make);
  const taken = new Set([...index.entries.values()].map((entry) => textOf(entry.activity.name)));
  const activities = clip.activities.map((activity): Members => {
    const copy = membersOf(withIds(activity, ids)) ?? activity;
    if (!idOf(copy)) copy.id = make();
    const name = textOf(copy.name);
    if (!name || !taken.has(name)) return copy;
    const free = freeName(index, name.replace(/\d+$/, "") || typeOf(copy), taken);
    taken.add(free);
    return { ...copy, name: free };
  });
  const copy: Clip = { activities, connections: clip.connections.map((one) => withIds(one, ids)) };
  if (!clip.states) return copy;
  const states = clip.states.map((one) => membersOf(withIds(one, ids)) ?? one);
  return { ...copy, states, transitions: clip.transitions?.map((one) => withIds(one, ids)) };
}

/** The corner of what is copied, if it has places. */
export function cornerOf(clip: Clip): Point | undefined {
  const all = [...clip.activities, ...(clip.states ?? [])].flatMap((one) => placeOf(one) ?? []);
  if (all.length === 0) return undefined;
  return { x: Math.min(...all.map(({ x }) => x)), y: Math.min(...all.map(({ y }) => y)) };
}

/** Whether a page takes it: states go into a machine, activities go anywhere else. */
export const fits = (view: PageView, clip: Clip): boolean =>
  (view.kind === "machine") === (clip.states !== undefined);

function shifted(activity: Members, by: Point): Members {
  const at = placeOf(activity);
  if (!at) return activity;
  const metadata = membersOf(activity.metadata) ?? {};
  const designer = { ...membersOf(metadata.designer), position: { x: at.x + by.x, y: at.y + by.y } };
  return { ...activity, metadata: { ...metadata, designer } };
}

/** Puts a copy on a page, `by` away from where it was. */
export function paste(
  index: Index,
  view: PageView,
  clip: Clip,
  by: Point,
  label: string,
  make: () => string = newId,
): Edit {
  const copy = copyOf(clip, index, make);
  const activities: Members[] = copy.activities.map((activity) => shifted(activity, by));
  const steps = new Steps(index.doc);
  const select = activities.map(idOf);
  if (!fits(view, clip)) return steps.edit(label);
  if (copy.states) {
    const states = copy.states.map((state) => shifted(state, by));
    return addStates(index, view, states, copy.transitions ?? [], label);
  }
  if ((view.kind === "flow" || view.kind === "list") && view.inside) {
    const member = [...view.path, childrenMember(view.inside) ?? "activities"];
    for (const activity of activities) steps.append(member, activity);
    if (isFlowchart(view.inside))
      for (const one of copy.connections) steps.append([...view.path, "connections"], one);
    return steps.edit(label, { select });
  }
  const flow = emptyFlowchart(make());
  flow.activities = [...(view.inside ? [view.inside] : []), ...activities];
  flow.connections = copy.connections;
  return steps.setDeep(view.path, flow).edit(label, { select });
}

/** In the order of the lines between them, otherwise from left to right and down. */
function inOrder(view: PageView, keys: readonly string[]): string[] {
  const at = (key: string) => view.items.find((item) => item.key === key)?.at ?? { x: 0, y: 0 };
  const rest = [...keys].sort((one, other) => at(one).x - at(other).x || at(one).y - at(other).y);
  const order: string[] = [];
  while (rest.length > 0) {
    const free = rest.findIndex(
      (key) => !view.lines.some((line) => line.to === key && rest.includes(line.from) && line.from !== key),
    );
    order.push(...rest.splice(Math.max(0, free), 1));
  }
  return order;
}

/** Puts activities of a flowchart into a new container; the lines that cross its border lead to it. */
export function wrap(
  index: Index,
  view: PageView,
  keys: readonly string[],
  container: Members,
  label: string,
): Edit {
  const steps = new Steps(index.doc);
  const items = view.items.filter((item) => item.entry && keys.includes(item.key));
  const first = items[0];
  if (!first || !view.inside || (view.kind !== "flow" && view.kind !== "list")) return steps.edit(label);
  const order =
    view.kind === "flow"
      ? inOrder(
          view,
          items.map((item) => item.key),
        )
      : items.map((item) => item.key);
  const held = order.flatMap((key): Members[] => {
    const entry = index.get(key);
    return entry ? [entry.activity] : [];
  });
  const ids = new Set(held.map(idOf));
  const id = idOf(container);
  const inner: Json[] = [];
  const outer: Json[] = [];
  for (const one of listOf(view.inside.connections)) {
    const { source, port, target, targetPort } = endsOf(one);
    if (ids.has(source) && ids.has(target)) inner.push(one);
    else if (ids.has(source))
      outer.push({ source: { activity: id, port: "Done" }, target: { activity: target, port: targetPort } });
    else if (ids.has(target))
      outer.push({ source: { activity: source, port }, target: { activity: id, port: "In" } });
    else outer.push(one);
  }
  const at: Members = first.at ? { designer: { position: { ...first.at } } } : {};
  const full: Members = { ...container, metadata: { ...membersOf(container.metadata), ...at } };
  full[childrenMember(container) ?? "activities"] = held;
  if (isFlowchart(container)) full.connections = inner;
  const member = [...view.path, childrenMember(view.inside) ?? "activities"];
  const kept = listOf(valueAt(index.doc, member)).flatMap((one): Json[] => {
    if (one === first.entry?.activity) return [full];
    return isActivity(one) && held.includes(one) ? [] : [one];
  });
  steps.set(member, kept);
  const unique = [...new Map(outer.map((one) => [JSON.stringify(one), one])).values()];
  if (view.kind === "flow") steps.setDeep([...view.path, "connections"], unique);
  return steps.edit(label, { select: [id] });
}
