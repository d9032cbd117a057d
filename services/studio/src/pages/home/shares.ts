import type { Api } from "../../api/types";

/** The instances of a definition, and how long the parts of their bar are, of 100. */
export interface Share {
  id: string;
  running: number;
  waiting: number;
  runningWidth: number;
  waitingWidth: number;
}

const SELDOM_MS = 10_000;

type Counted = Api["UnfinishedOfDefinition"];

/** Whether nothing is counted by definition, while the figures above have instances: it is asked again. */
export const isBehind = (items: readonly Counted[], figures: readonly (number | undefined)[]): boolean =>
  items.length === 0 && figures.some((figure) => (figure ?? 0) > 0);

type Answer = Pick<Api["UnfinishedInstances"], "items" | "totalCount" | "isCutShort">;

/** How soon it is asked again: a node keeps its answer for some seconds, so it may be older than the figures. */
export function againAfter(answer: Answer | undefined, figures: readonly (number | undefined)[]): number {
  if (!answer) return SELDOM_MS;
  const { items, totalCount, isCutShort } = answer;
  if (isBehind(items, figures)) return 1000;
  if (isCutShort || totalCount > items.length || figures.includes(undefined)) return SELDOM_MS;
  const counted = items.reduce((sum, { count }) => sum + count, 0);
  const above = figures.reduce<number>((sum, figure) => sum + (figure ?? 0), 0);
  return counted === above ? SELDOM_MS : 2000;
}

/** The longest bar is that of the definition with the most; each part that is there can be seen. */
export function sharesOf(items: readonly Counted[]): Share[] {
  const most = Math.max(1, ...items.map((one) => one.count));
  const width = (count: number) => (count === 0 ? 0 : Math.max(1, (count / most) * 99));
  return items.map(({ definitionId, pending, executing, suspended }) => ({
    id: definitionId,
    running: pending + executing,
    waiting: suspended,
    runningWidth: width(pending + executing),
    waitingWidth: width(suspended),
  }));
}
