import { isMembers, type Json, namesOf, objectOf } from "./json";

export type Step = string | number;
export type Path = readonly Step[];

/** The smallest change. `before` names the member in front of which a new member is put. */
export type Patch =
  | { do: "set"; path: Path; value: Json; before?: string }
  | { do: "remove"; path: Path }
  | { do: "insert"; path: Path; value: Json };

export class NoSuchPlace extends Error {
  override readonly name = "NoSuchPlace";

  constructor(path: Path) {
    super(`there is nothing at ${path.join("/")}`);
  }
}

export function valueAt(doc: Json | undefined, path: Path): Json | undefined {
  let value = doc;
  for (const step of path) {
    if (Array.isArray(value)) value = value[Number(step)];
    else if (isMembers(value)) value = Object.hasOwn(value, step) ? value[String(step)] : undefined;
    else return undefined;
  }
  return value;
}

function changed(value: Json, path: Path, depth: number, change: (holder: Json, step: Step) => Json): Json {
  const step = path[depth];
  if (step === undefined) throw new NoSuchPlace(path);
  if (depth === path.length - 1) return change(value, step);
  if (Array.isArray(value)) {
    const item = value[Number(step)];
    if (item === undefined) throw new NoSuchPlace(path);
    return value.with(Number(step), changed(item, path, depth + 1, change));
  }
  if (!isMembers(value) || !Object.hasOwn(value, step)) throw new NoSuchPlace(path);
  const next = changed(value[step] ?? null, path, depth + 1, change);
  return objectOf(namesOf(value).map((name) => [name, name === step ? next : (value[name] ?? null)]));
}

function put(holder: Json, step: Step, value: Json, before: string | undefined, path: Path): Json {
  if (Array.isArray(holder)) {
    if (Number(step) >= holder.length) throw new NoSuchPlace(path);
    return holder.with(Number(step), value);
  }
  if (!isMembers(holder)) throw new NoSuchPlace(path);
  const name = String(step);
  const entries = namesOf(holder).map((one): [string, Json] => [
    one,
    one === name ? value : (holder[one] ?? null),
  ]);
  if (Object.hasOwn(holder, name)) return objectOf(entries);
  const place = before === undefined ? -1 : entries.findIndex(([one]) => one === before);
  entries.splice(place < 0 ? entries.length : place, 0, [name, value]);
  return objectOf(entries);
}

function drop(holder: Json, step: Step, path: Path): Json {
  if (Array.isArray(holder)) {
    if (Number(step) >= holder.length) throw new NoSuchPlace(path);
    return holder.filter((_, at) => at !== Number(step));
  }
  if (!isMembers(holder) || !Object.hasOwn(holder, step)) throw new NoSuchPlace(path);
  return objectOf(
    namesOf(holder).flatMap((name) => (name === step ? [] : [[name, holder[name] ?? null] as const])),
  );
}

function inverse(doc: Json, patch: Patch): Patch {
  if (patch.do === "insert") return { do: "remove", path: patch.path };
  const was = valueAt(doc, patch.path);
  if (was === undefined) return { do: "remove", path: patch.path };
  if (patch.do === "set") return { do: "set", path: patch.path, value: was };
  const holder = valueAt(doc, patch.path.slice(0, -1));
  if (Array.isArray(holder)) return { do: "insert", path: patch.path, value: was };
  const names = isMembers(holder) ? namesOf(holder) : [];
  const before = names[names.indexOf(String(patch.path.at(-1))) + 1];
  return { do: "set", path: patch.path, value: was, ...(before === undefined ? {} : { before }) };
}

function applyOne(doc: Json, patch: Patch): Json {
  if (patch.path.length === 0) {
    if (patch.do !== "set") throw new NoSuchPlace(patch.path);
    return patch.value;
  }
  return changed(doc, patch.path, 0, (holder, step) => {
    if (patch.do === "set") return put(holder, step, patch.value, patch.before, patch.path);
    if (patch.do === "remove") return drop(holder, step, patch.path);
    if (!Array.isArray(holder) || Number(step) > holder.length) throw new NoSuchPlace(patch.path);
    return holder.toSpliced(Number(step), 0, patch.value);
  });
}

/** Applies patches in order. What is not changed stays the same object; `back` undoes all of it. */
export function apply(doc: Json, patches: readonly Patch[]): { doc: Json; back: Patch[] } {
  const back: Patch[] = [];
  let now = doc;
  for (const patch of patches) {
    const undo = inverse(now, patch);
    now = applyOne(now, patch);
    back.unshift(undo);
  }
  return { doc: now, back };
}
