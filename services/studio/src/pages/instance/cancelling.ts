import type { Api } from "../../api/types";
import { isOver, stateOf, stateWord } from "../../lib/states";
import { t } from "../../text";

export interface End {
  /** It had ended before, it was ended by this, or it will be. */
  is: "late" | "cancelled" | "accepted";
  said: string;
}

/** What became of a cancellation, in words: one that came too late has cancelled nothing. */
export function endOf({ cancelled, subStatus }: Pick<Api["Cancelled"], "cancelled" | "subStatus">): End {
  if (cancelled) return { is: "cancelled", said: t.instance.cancelled };
  if (!isOver(subStatus)) return { is: "accepted", said: t.instance.cancelAccepted };
  if (stateOf(subStatus) === "cancelled") return { is: "late", said: t.instance.cancelledBefore };
  return { is: "late", said: t.instance.cancelLate(stateWord(subStatus)) };
}

/** Why an instance in this state need not be cancelled any more; none where it can be. */
export function lateFor(subStatus: string): string | undefined {
  const { is, said } = endOf({ cancelled: false, subStatus });
  return is === "late" ? said : undefined;
}
