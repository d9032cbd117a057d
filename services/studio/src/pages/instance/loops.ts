import type { Api } from "../../api/types";
import { fold } from "../../lib/fold";

type Entry = Api["JournalEntry"];
type Line = Pick<Entry, "activityId" | "eventName">;

/** Rounds of a loop have lines about the same activities, in the same order. */
export const lineKey = ({ activityId, eventName }: Line): string => `${activityId} ${eventName}`;

/** Bursts are alike if they differ at most in how often something came again. */
export const burstKey = (burst: readonly Line[]): string =>
  fold(burst, lineKey)
    .map((part) => ("item" in part ? lineKey(part.item) : `(${part.round.map(lineKey).join(" ")})`))
    .join(" ");

const NAMES_MAX = 3;

/** What comes again, by the names of its activities, each once; the number of those that are left out. */
export function namesOfRound(
  round: readonly Line[],
  nameOf: (line: Line) => string | undefined,
): { names: string[]; more: number } {
  const all = [...new Set(round.flatMap((line) => nameOf(line) ?? []))];
  return { names: all.slice(0, NAMES_MAX), more: Math.max(0, all.length - NAMES_MAX) };
}
