import type { Api } from "../../api/types";

/** The instances of a definition, and how long the parts of their bar are, of 100. */
export interface Share {
  id: string;
  running: number;
  waiting: number;
  runningWidth: number;
  waitingWidth: number;
}

type Counted = Api["UnfinishedOfDefinition"];

/** Whether nothing is counted by definition, while the figures above have instances: it is asked again. */
export const isBehind = (items: readonly Counted[], figures: readonly (number | undefined)[]): boolean =>
  items.length === 0 && figures.some((figure) => (figure ?? 0) > 0);

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
