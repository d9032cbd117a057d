import type { Api } from "../../api/types";

/** The versions that the nodes run, and how many run each; none where all run the same. */
export function severalVersions(
  nodes: readonly Pick<Api["NodeSeen"], "version">[],
): { version?: string; count: number }[] {
  const counts = new Map<string | undefined, number>();
  for (const { version } of nodes) {
    const said = version ?? undefined;
    counts.set(said, (counts.get(said) ?? 0) + 1);
  }
  if (counts.size < 2) return [];
  return [...counts]
    .map(([version, count]) => ({ version, count }))
    .sort((one, other) =>
      (one.version ?? "").localeCompare(other.version ?? "", undefined, { numeric: true }),
    );
}
