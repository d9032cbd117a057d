import { useNow } from "../app/clock";
import { useSettings } from "../app/settings";
import { formatDuration, formatTime } from "../lib/format";

/** A time, as the switch in the top bar says; the exact one in UTC on hover. */
export function Time({ at, exact }: { at?: string | null; exact?: boolean }) {
  const { time, language } = useSettings();
  const now = useNow();
  if (!at) return <span className="text-soft">–</span>;
  return (
    <time dateTime={at} title={at} className="whitespace-nowrap tabular-nums">
      {formatTime(at, time, now, language, exact)}
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
