import { idOf, isActivity, typeOf } from "./activities";
import { isMembers, isSame, type Json, listOf, type Members, namesOf, objectOf, textOf } from "./json";
import { type Move, movesOf, withMarks, withoutMarks } from "./moves";
import type { Path } from "./patch";
import { endsOf } from "./view";

/** A place that both sides changed in different ways. */
export interface Clash {
  path: Path;
  mine: Json | undefined;
  theirs: Json | undefined;
}

/** Whether items of a list are the same thing: by id, by name, or by the ends of a connection. */
function identity(item: Json): string | undefined {
  if (!isMembers(item)) return undefined;
  if (textOf(item.id)) return `id ${textOf(item.id)}`;
  if ("source" in item && "target" in item) {
    const { source, port, target, targetPort } = endsOf(item);
    return `line ${JSON.stringify([source, port, target, targetPort])}`;
  }
  const name = textOf(item.name) || textOf(item.label);
  return name ? `name ${name}` : undefined;
}

function keyed(list: Json[]): Map<string, Json> | undefined {
  const map = new Map<string, Json>();
  for (const item of list) {
    const key = identity(item);
    if (key === undefined || map.has(key)) return undefined;
    map.set(key, item);
  }
  return map;
}

/** The keys of both lists in the order of mine; what only theirs has stands behind what it stands behind there. */
function keysOf(here: readonly string[], there: readonly string[]): string[] {
  const keys = [...here];
  const known = new Set(here);
  for (const [at, key] of there.entries()) {
    if (known.has(key)) continue;
    known.add(key);
    const before = there[at - 1];
    keys.splice(before === undefined ? 0 : keys.indexOf(before) + 1, 0, key);
  }
  return keys;
}

/** What lines lead between, and how they name it. */
interface Net {
  nodes: string;
  lines: string;
  nodeOf: (node: Json) => string;
  endsOf: (line: Json) => readonly [string, string];
}

const NETS: readonly Net[] = [
  {
    nodes: "activities",
    lines: "connections",
    nodeOf: (node) => (isMembers(node) ? textOf(node.id) : ""),
    endsOf: (line) => {
      const { source, target } = endsOf(line);
      return [source, target];
    },
  },
  {
    nodes: "states",
    lines: "transitions",
    nodeOf: (node) => (isMembers(node) ? textOf(node.name) : ""),
    endsOf: (line) => (isMembers(line) ? [textOf(line.from), textOf(line.to)] : ["", ""]),
  },
];

/**
 * The lines of a joined container. One that went away together with an activity is back where the activity is;
 * one that leads to an activity that is gone from here goes, too.
 */
function mended(base: Members, mine: Members, theirs: Members, joined: Members): Members {
  let result = joined;
  for (const net of NETS) {
    const nodes = (of: Members) => new Set(listOf(of[net.nodes]).map(net.nodeOf));
    const [now, here, there] = [nodes(joined), nodes(mine), nodes(theirs)];
    const ever = new Set([...nodes(base), ...here, ...there]);
    const isHeld = (line: Json) => net.endsOf(line).every((end) => now.has(end) || !ever.has(end));
    const before = listOf(joined[net.lines]);
    let lines = before.filter(isHeld);
    for (const [side, other, left] of [
      [mine, theirs, there],
      [theirs, mine, here],
    ] as const) {
      const kept = listOf(other[net.lines]);
      for (const [at, line] of listOf(side[net.lines]).entries()) {
        const ends = net.endsOf(line);
        const went = ends.some((end) => !left.has(end)) && ends.every((end) => now.has(end));
        const isThere = (list: readonly Json[]) => list.some((one) => isSameLine(one, line));
        if (!went || isThere(kept) || isThere(lines)) continue;
        lines = lines.toSpliced(at, 0, line);
      }
    }
    if (lines.length === before.length && lines.every((line, at) => line === before[at])) continue;
    const names = [...new Set([...namesOf(result), net.lines])];
    const held = result;
    result = objectOf(
      names.map((name) => [name, name === net.lines ? lines : (held[name] ?? null)] as const),
    );
  }
  return result;
}

function isSameLine(one: Json, other: Json): boolean {
  const [key, otherKey] = [identity(one), identity(other)];
  return key === undefined || otherKey === undefined ? isSame(one, other) : key === otherKey;
}

/** Two activities of one id that are not the same thing: their values do not mix. */
const areOther = (mine: Members, theirs: Members): boolean =>
  isActivity(mine) && isActivity(theirs) && (typeOf(mine) !== typeOf(theirs) || idOf(mine) !== idOf(theirs));

/** A place as one text, by which a choice names it. */
export const placeOf = (path: Path): string => JSON.stringify(path);

class Merge {
  readonly clashes: Clash[] = [];

  constructor(private readonly takesTheirs: ReadonlySet<string>) {}

  value(
    base: Json | undefined,
    mine: Json | undefined,
    theirs: Json | undefined,
    path: Path,
  ): Json | undefined {
    if (isSame(mine, theirs) || isSame(base, theirs)) return mine;
    if (isSame(base, mine)) return theirs;
    if (isMembers(mine) && isMembers(theirs) && !areOther(mine, theirs))
      return this.members(isMembers(base) ? base : {}, mine, theirs, path);
    if (Array.isArray(mine) && Array.isArray(theirs)) {
      const merged = this.list(Array.isArray(base) ? base : [], mine, theirs, path);
      if (merged) return merged;
    }
    this.clashes.push({ path, mine, theirs });
    return this.takesTheirs.has(placeOf(path)) ? theirs : mine;
  }

  private members(base: Members, mine: Members, theirs: Members, path: Path): Members {
    const names = [...new Set([...namesOf(mine), ...namesOf(theirs)])];
    const joined = objectOf(
      names.flatMap((name): [string, Json][] => {
        const value = this.value(base[name], mine[name], theirs[name], [...path, name]);
        return value === undefined ? [] : [[name, value]];
      }),
    );
    return mended(base, mine, theirs, joined);
  }

  private list(base: Json[], mine: Json[], theirs: Json[], path: Path): Json[] | undefined {
    const [was, here, there] = [keyed(base), keyed(mine), keyed(theirs)];
    if (!was || !here || !there) return undefined;
    return keysOf([...here.keys()], [...there.keys()]).flatMap((key): Json[] => {
      const value = this.value(was.get(key), here.get(key), there.get(key), [...path, key]);
      return value === undefined ? [] : [value];
    });
  }
}

/** The member that stands for its place where both put an activity elsewhere. */
export const PLACE = "place of the activity";

/** By which a choice names the place of an activity that both sides put elsewhere. */
const movePath = (id: string): Path => ["root", `id ${id}`, PLACE];

/** Joins them, and says which moved activities found no place: what should hold them is gone. */
function joined(
  [base, mine, theirs]: readonly [Json, Json, Json],
  moves: ReadonlyMap<string, Move>,
  takesTheirs: ReadonlySet<string>,
) {
  const work = new Merge(takesTheirs);
  const value = (of: readonly [Json, Json, Json], path: Path) =>
    work.value(
      withMarks(of[0], "base", moves),
      withMarks(of[1], "mine", moves),
      withMarks(of[2], "theirs", moves),
      path,
    );
  const around = value([base, mine, theirs], []) ?? null;
  const placed = new Set<string>();
  const doc = withoutMarks(around, (id) => {
    const move = moves.get(id);
    // A mark that is met twice would be an activity in itself.
    if (!move || placed.has(id)) return undefined;
    placed.add(id);
    if (move.clash) work.clashes.push({ path: movePath(id), ...move.clash });
    return value([move.base, move.mine, move.theirs], ["root", `id ${id}`]);
  });
  return { doc, clashes: work.clashes, lost: [...moves.keys()].filter((id) => !placed.has(id)) };
}

/**
 * Joins two changes of the same text. Where they clash, mine is kept and the place is named: but theirs at the
 * places that are told.
 */
export function merge(
  base: Json,
  mine: Json,
  theirs: Json,
  takesTheirs: ReadonlySet<string> = new Set(),
): { doc: Json; clashes: Clash[] } {
  const texts = [base, mine, theirs] as const;
  const moves = movesOf(base, mine, theirs, (id) => takesTheirs.has(placeOf(movePath(id))));
  const first = joined(texts, moves, takesTheirs);
  if (first.lost.length === 0) return first;
  const lost = first.lost.flatMap((id) => moves.get(id) ?? []);
  // What should hold it is gone: it is where the other side has it.
  if (new Set(lost.map(({ to }) => to)).size === 1) {
    for (const move of lost) move.to = move.to === "mine" ? "theirs" : "mine";
    const second = joined(texts, moves, takesTheirs);
    if (second.lost.length === 0) return second;
  }
  // Each was put into the other: only one of both texts as a whole is right.
  const path: Path = ["root"];
  return {
    doc: takesTheirs.has(placeOf(path)) ? theirs : mine,
    clashes: [
      { path, mine: isMembers(mine) ? mine.root : mine, theirs: isMembers(theirs) ? theirs.root : theirs },
    ],
  };
}
