import type { Api } from "../../api/types";

/** A version, none for one that says no number, and the names of the nodes that run it. */
export interface Run {
  version?: string;
  nodes: string[];
}

/** The versions that the nodes run, the newest first; none where all run the same. */
export function severalVersions(nodes: readonly Pick<Api["NodeSeen"], "node" | "version">[]): Run[] {
  const runs = new Map<string | undefined, string[]>();
  for (const { node, version } of nodes) {
    const said = version ?? undefined;
    runs.set(said, [...(runs.get(said) ?? []), node]);
  }
  if (runs.size < 2) return [];
  return [...runs]
    .map(([version, names]) => ({ version, nodes: names.sort() }))
    .sort((one, other) =>
      (other.version ?? "").localeCompare(one.version ?? "", undefined, { numeric: true }),
    );
}
