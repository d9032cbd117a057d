const DAY = 86_400;
/** The longest lifetime of a key that the server takes. */
export const DAYS_MAX = 36_600;

/** Seconds of a whole number of days; `undefined` without a text, and `null` where it is no such number. */
export function lifetimeOf(text: string): number | undefined | null {
  const days = text.trim();
  if (days === "") return undefined;
  if (!/^\d{1,5}$/.test(days)) return null;
  const count = Number(days);
  return count >= 1 && count <= DAYS_MAX ? count * DAY : null;
}

/** The time that a field for a local date and time holds; `undefined` without one, `null` where it is over. */
export function endOf(text: string, now: number): string | undefined | null {
  if (text === "") return undefined;
  const at = new Date(text);
  return at.getTime() > now ? at.toISOString() : null;
}

/** A time as a field for a local date and time holds it, to the minute. */
export function localOf(time: string | null | undefined): string {
  const at = new Date(time ?? "");
  if (Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
