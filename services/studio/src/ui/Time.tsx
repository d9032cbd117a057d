import { useNow } from "../app/clock";
import { useSettings } from "../app/settings";
import { formatDuration, formatTime } from "../lib/format";

interface Shown {
  at?: string | null;
  exact?: boolean;
  /** It stands in a sentence that has its distance from now already. */
  stands?: boolean;
}

/** A time, as the switch in the top bar says; the exact one in UTC on hover. */
export function Time({ at, exact, stands }: Shown) {
  const { time, language } = useSettings();
  const now = useNow();
  if (!at) return <span className="text-soft">–</span>;
  return (
    <time dateTime={at} title={at} className="whitespace-nowrap tabular-nums">
      {formatTime(at, stands && time === "relative" ? "local" : time, now, language, exact)}
    </time>
  );
}

/** From one time to another; without an end, until now. */
export function Duration({ from, to }: { from: string; to?: string | null }) {
  const now = useNow();
  const end = to ? Date.parse(to) : now;
  const length = Math.max(0, end - Date.parse(from));
  return (
    <span className="whitespace-nowrap tabular-nums">
      {to || length >= 60_000 ? formatDuration(length) : `${Math.round(length / 1000)} s`}
    </span>
  );
}

/** How long it takes until a time. */
export function Left({ until }: { until: string }) {
  const now = useNow();
  return <Duration from={new Date(Math.min(now, Date.parse(until))).toISOString()} to={until} />;
}
