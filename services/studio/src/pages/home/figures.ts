import { COUNTED_MAX } from "../../api/queries";
import { formatCount } from "../../lib/format";

/** A figure as it was asked for. */
export interface Counted {
  data: number | undefined;
  error: unknown;
}

/** What is shown of a figure: it, the last one that came while it fails, nothing since it failed, or nothing yet. */
export function shownOf({ data, error }: Counted): "figure" | "old" | "failed" | "none" {
  if (data === undefined) return error ? "failed" : "none";
  return error ? "old" : "figure";
}

/** A count as a person reads it: the server counts up to a limit, above which there may be more. */
export const countedWord = (count: number, language: string): string =>
  `${formatCount(count, language)}${count >= COUNTED_MAX ? "+" : ""}`;
