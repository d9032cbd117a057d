import type { graphlib } from "@dagrejs/dagre";

type Graph = graphlib.Graph;
/** The step of dagre that gives each node its place in its rank. */
type Order = (graph: Graph, options: { disableOptimalOrderHeuristic?: boolean }) => void;
type Places = ReadonlyMap<string, number>;

/** A line from a node to one of the next rank. */
interface Step {
  from: string;
  to: string;
}

const rankOf = (graph: Graph, node: string): number => graph.node(node).rank ?? 0;

const placesIn = (graph: Graph): Places =>
  new Map(graph.nodes().map((node) => [node, graph.node(node).order ?? 0]));

/** The same places, counted from the other side. */
function mirrored(graph: Graph, places: Places): Places {
  const last = new Map<number, number>();
  for (const [node, place] of places) {
    const rank = rankOf(graph, node);
    last.set(rank, Math.max(place, last.get(rank) ?? 0));
  }
  return new Map([...places].map(([node, place]) => [node, (last.get(rankOf(graph, node)) ?? 0) - place]));
}

/** The pairs of lines between the same two ranks that cross. */
function crossings(ranks: readonly (readonly Step[])[], places: Places): number {
  const placeOf = (node: string) => places.get(node) ?? 0;
  let count = 0;
  for (const steps of ranks) {
    const ends = steps.map(({ from, to }) => [placeOf(from), placeOf(to)] as const);
    for (const [at, [from, to]] of ends.entries()) {
      for (let next = at + 1; next < ends.length; next++) {
        const [otherFrom, otherTo] = ends[next] ?? [from, to];
        if ((from - otherFrom) * (to - otherTo) < 0) count++;
      }
    }
  }
  return count;
}

/** How often the next branch of a node stands before the one that was added before it. */
function reversals(steps: readonly Step[], places: Places): number {
  const last = new Map<string, number>();
  let count = 0;
  for (const { from, to } of steps) {
    const place = places.get(to) ?? 0;
    if (place < (last.get(from) ?? 0)) count++;
    last.set(from, place);
  }
  return count;
}

/**
 * Orders the nodes of each rank with the fewest crossings, and of such orders takes the one that keeps most branches as
 * they were added. By itself, dagre takes the last order that it tries, and that one prefers the reverse.
 */
export function inAddedOrder(graph: Graph, order: Order): void {
  const steps = graph.edges().map(({ v, w }): Step => ({ from: v, to: w }));
  const byRank = new Map<number, Step[]>();
  for (const step of steps) {
    const rank = rankOf(graph, step.from);
    const beside = byRank.get(rank);
    if (beside) beside.push(step);
    else byRank.set(rank, [step]);
  }
  const ranks = [...byRank.values()];
  order(graph, { disableOptimalOrderHeuristic: true });
  const added = placesIn(graph);
  if (crossings(ranks, added) === 0) return;
  order(graph, {});
  const found = placesIn(graph);
  const [best] = [added, found, mirrored(graph, found)]
    .map((places) => ({
      places,
      crossed: crossings(ranks, places),
      reversed: reversals(steps, places),
    }))
    .sort((one, other) => one.crossed - other.crossed || one.reversed - other.reversed);
  for (const [node, place] of best?.places ?? []) graph.node(node).order = place;
}
