import {
  childrenMember,
  type Entry,
  type Index,
  idOf,
  isActivity,
  isFlowchart,
  isMachine,
  slotPath,
} from "./activities";
import { Exact, type Json, listOf, type Members, membersOf, textOf } from "./json";
import { type Path, valueAt } from "./patch";

/** What the canvas shows: the inside of a container (`slot` is empty), or a place of an activity. */
export interface Page {
  /** The key of an activity; empty for the workflow itself. */
  owner: string;
  slot: string;
}

export const ROOT: Page = { owner: "", slot: "root" };

export type PageKind = "flow" | "list" | "single" | "empty" | "machine";

export interface Point {
  x: number;
  y: number;
}

export interface Item {
  key: string;
  entry?: Entry;
  /** The state of a state machine. */
  state?: Members;
  path: Path;
  at?: Point;
}

export interface Line {
  id: string;
  from: string;
  to: string;
  port: string;
  targetPort: string;
  /** Its place in `connections` or `transitions`; none for the order of a list. */
  index?: number;
}

export interface PageView {
  page: Page;
  kind: PageKind;
  /** The way to the value that is shown. */
  path: Path;
  /** The activity that is shown from the inside. */
  inside?: Members;
  /** The key of that activity. */
  key?: string;
  items: Item[];
  lines: Line[];
}

const number = (value: Json | undefined): number | undefined =>
  typeof value === "number" ? value : value instanceof Exact ? value.valueOf() : undefined;

export function placeOf(activity: Members): Point | undefined {
  const place = membersOf(membersOf(membersOf(activity.metadata)?.designer)?.position);
  const x = number(place?.x);
  const y = number(place?.y);
  return x === undefined || y === undefined ? undefined : { x, y };
}

export interface Ends {
  source: string;
  port: string;
  target: string;
  targetPort: string;
}

/** Both forms of a connection: with objects, and the older one with plain ids. */
export function endsOf(connection: Json | undefined): Ends {
  const one = membersOf(connection);
  const source = membersOf(one?.source);
  const target = membersOf(one?.target);
  return {
    source: source ? textOf(source.activity) : textOf(one?.source),
    port: (source ? textOf(source.port) : textOf(one?.sourcePort)) || "Done",
    target: target ? textOf(target.activity) : textOf(one?.target),
    targetPort: (target ? textOf(target.port) : textOf(one?.targetPort)) || "In",
  };
}

function flowLines(inside: Members): Line[] {
  return listOf(inside.connections).map((connection, index) => {
    const { source, port, target, targetPort } = endsOf(connection);
    return { id: `${source}|${port}|${target}|${index}`, from: source, to: target, port, targetPort, index };
  });
}

function machineView(view: PageView, inside: Members): PageView {
  const items = listOf(inside.states).flatMap((state, at): Item[] => {
    const one = membersOf(state);
    if (!one) return [];
    return [
      { key: `state:${textOf(one.name)}`, state: one, path: [...view.path, "states", at], at: placeOf(one) },
    ];
  });
  const lines = listOf(inside.transitions).map((transition, index): Line => {
    const one = membersOf(transition);
    const word = textOf(one?.displayName) || textOf(one?.name) || "Done";
    const from = `state:${textOf(one?.from)}`;
    const to = `state:${textOf(one?.to)}`;
    return { id: `${from}|${to}|${index}`, from, to, port: word, targetPort: "In", index };
  });
  return { ...view, kind: "machine", items, lines };
}

const itemOf = (entry: Entry): Item => ({
  key: entry.key,
  entry,
  path: entry.path,
  at: placeOf(entry.activity),
});

function insideOf(index: Index, page: Page): { path: Path; value: Json | undefined } {
  const owner = page.owner === "" ? undefined : index.get(page.owner);
  const path = [...(owner?.path ?? []), ...slotPath(page.slot)];
  return { path, value: valueAt(index.doc, path) };
}

function keyInside(index: Index, page: Page): string | undefined {
  if (page.owner === "") return index.root()?.key;
  if (page.slot === "") return page.owner;
  return index.children(page.owner).find((entry) => entry.slot === page.slot)?.key;
}

export function viewOf(index: Index, page: Page): PageView {
  const { path, value } = insideOf(index, page);
  const empty: PageView = { page, kind: "empty", path, items: [], lines: [] };
  if (!isActivity(value)) return empty;
  const key = keyInside(index, page) ?? idOf(value);
  const view: PageView = { ...empty, inside: value, key };
  if (isMachine(value)) return machineView(view, value);
  if (!childrenMember(value)) {
    const entry = index.get(key);
    return { ...view, kind: "single", items: entry ? [itemOf(entry)] : [] };
  }
  const items = index
    .children(key)
    .filter((entry) => entry.slot === "")
    .map(itemOf);
  if (isFlowchart(value)) return { ...view, kind: "flow", items, lines: flowLines(value) };
  const isOrdered = /Sequence$/.test(textOf(value.type));
  const lines = isOrdered
    ? items.slice(1).map((item, at): Line => {
        const from = items[at]?.key ?? "";
        return { id: `${from}>${item.key}`, from, to: item.key, port: "Done", targetPort: "In" };
      })
    : [];
  return { ...view, kind: "list", items, lines };
}

/** The page on which an activity is shown. */
export function pageOf(index: Index, key: string): Page {
  const entry = index.get(key);
  if (!entry || entry.owner === undefined) return ROOT;
  if (entry.slot !== "") return { owner: entry.owner, slot: entry.slot };
  return pageInside(index, entry.owner);
}

/** The page that shows a container from the inside. */
export function pageInside(index: Index, key: string): Page {
  const entry = index.get(key);
  if (!entry || entry.owner === undefined) return ROOT;
  return entry.slot === "" ? { owner: key, slot: "" } : { owner: entry.owner, slot: entry.slot };
}

/** The page that shows the same after a change: a case can have another place in its list. */
export function pageAfter(index: Index, { page, key }: PageView): Page {
  const now = key === undefined ? page : pageInside(index, key);
  return now.owner === page.owner ? now : page;
}

export interface Crumb {
  page: Page;
  key?: string;
  slot: string;
}

/** The pages around a page, from the workflow inwards, with itself. */
export function crumbsOf(index: Index, page: Page): Crumb[] {
  const crumbs: Crumb[] = [{ page: ROOT, slot: "" }];
  if (page.owner === "") return crumbs;
  for (const entry of index.line(page.owner)) {
    if (entry.owner === undefined) continue;
    if (entry.slot !== "")
      crumbs.push({ page: { owner: entry.owner, slot: entry.slot }, key: entry.owner, slot: entry.slot });
    else if (childrenMember(entry.activity) || isMachine(entry.activity)) {
      crumbs.push({ page: { owner: entry.key, slot: "" }, key: entry.key, slot: "" });
    }
  }
  if (page.slot !== "") crumbs.push({ page, key: page.owner, slot: page.slot });
  return crumbs;
}
