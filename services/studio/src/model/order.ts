import { type Entry, type Index, isFlowchart, isMachine } from "./activities";
import type { Path } from "./patch";

const CASE = /^(\w+)\/\d+\/activity$/;

/** The name of the list in which the order of an activity can be changed: of steps, of branches, of cases. */
export function listAround(index: Index, { owner, slot }: Entry): string | undefined {
  const around = owner === undefined ? undefined : index.get(owner);
  if (!around) return undefined;
  const member = CASE.exec(slot)?.[1];
  if (member !== undefined) return `${owner} ${member}`;
  return slot === "" && !isFlowchart(around.activity) && !isMachine(around.activity) ? owner : undefined;
}

/** One place of a list; with the activity of a case, the whole case moves. */
export interface Place {
  key: string;
  path: Path;
}

/** All that stand in the list of an activity, in their order; none if it stands in no list. */
export function listOfEntry(index: Index, key: string): Place[] {
  const entry = index.get(key);
  const list = entry && listAround(index, entry);
  if (entry?.owner === undefined || list === undefined) return [];
  return index
    .children(entry.owner)
    .filter((one) => listAround(index, one) === list)
    .map((one) => ({ key: one.key, path: one.slot === "" ? one.path : one.path.slice(0, -1) }));
}
