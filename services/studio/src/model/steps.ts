import type { Edit } from "./history";
import { isMembers, type Json } from "./json";
import { apply, type Patch, type Path, valueAt } from "./patch";

/** Collects patches; each one starts from what the ones before have made. */
export class Steps {
  readonly patches: Patch[] = [];

  constructor(public doc: Json) {}

  private do(patch: Patch): this {
    this.doc = apply(this.doc, [patch]).doc;
    this.patches.push(patch);
    return this;
  }

  set(path: Path, value: Json): this {
    return this.do({ do: "set", path, value });
  }

  /** Sets a member; objects on the way that are missing are made. */
  setDeep(path: Path, value: Json): this {
    let depth = path.length - 1;
    while (depth > 0 && !isHolder(valueAt(this.doc, path.slice(0, depth)))) depth--;
    let made = value;
    for (let at = path.length - 1; at > depth; at--) made = { [String(path[at])]: made };
    return this.set(path.slice(0, depth + 1), made);
  }

  remove(path: Path): this {
    return valueAt(this.doc, path) === undefined ? this : this.do({ do: "remove", path });
  }

  insert(path: Path, value: Json): this {
    return this.do({ do: "insert", path, value });
  }

  append(path: Path, value: Json): this {
    const list = valueAt(this.doc, path);
    return Array.isArray(list) ? this.insert([...path, list.length], value) : this.setDeep(path, [value]);
  }

  edit(label: string, more: Omit<Edit, "label" | "patches"> = {}): Edit {
    return { label, patches: this.patches, ...more };
  }
}

const isHolder = (value: Json | undefined): boolean => isMembers(value) || Array.isArray(value);
