import { type Search, timeOf } from "../../lib/filters";

/** The filters of the audit log that are text. */
export const FILTERS = ["who", "what", "target", "from", "until"] as const;
export const OUTCOMES = ["done", "refused", "accepted"] as const;
/** What a name in the audit log begins with. */
export const KINDS = ["user:", "app:", "oidc:"] as const;

/** What the server is asked for, and the filters in the address that it cannot be asked for. */
export function askedOf(search: Search, now: number) {
  const { what, target, from, until, outcome } = search;
  const asked = {
    what: what || undefined,
    target: target || undefined,
    from: from ? timeOf(from, now) : undefined,
    until: until ? timeOf(until, now) : undefined,
    outcome: OUTCOMES.find((one) => one === outcome),
  };
  const wrong = (["from", "until", "outcome"] as const).filter((name) => search[name] && !asked[name]);
  return { asked, wrong: wrong as string[] };
}

/** The names to look for, one after the other until one has entries: `alice` may be the user `user:alice`. */
export function namesOf(who: string | undefined): (string | undefined)[] {
  if (!who) return [undefined];
  return who.includes(":") ? [who] : [who, ...KINDS.map((kind) => kind + who)];
}
