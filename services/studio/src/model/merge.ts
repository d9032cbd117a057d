import { isMembers, isSame, type Json, type Members, namesOf, objectOf, textOf } from "./json";
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
    if (isMembers(mine) && isMembers(theirs))
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
    return objectOf(
      names.flatMap((name): [string, Json][] => {
        const value = this.value(base[name], mine[name], theirs[name], [...path, name]);
        return value === undefined ? [] : [[name, value]];
      }),
    );
  }

  private list(base: Json[], mine: Json[], theirs: Json[], path: Path): Json[] | undefined {
    const [was, here, there] = [keyed(base), keyed(mine), keyed(theirs)];
    if (!was || !here || !there) return undefined;
    const keys = [...new Set([...here.keys(), ...there.keys()])];
    return keys.flatMap((key): Json[] => {
      const value = this.value(was.get(key), here.get(key), there.get(key), [...path, key]);
      return value === undefined ? [] : [value];
    });
  }
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
  const work = new Merge(takesTheirs);
  return { doc: work.value(base, mine, theirs, []) ?? null, clashes: work.clashes };
}
