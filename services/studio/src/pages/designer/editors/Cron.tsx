import { useMemo, useState } from "react";
import { formatInZone } from "../../../lib/format";
import { NotCron, nextTimes } from "../../../model/cron";
import { w } from "../words";

const ZONES = [
  "UTC",
  Intl.DateTimeFormat().resolvedOptions().timeZone,
  "Europe/Berlin",
  "America/New_York",
  "Asia/Tokyo",
];

/** Whether the browser knows a time zone of this name. */
function isZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat("en", { timeZone: name }));
  } catch {
    return false;
  }
}

/** A cron expression with the next five times that it means: in the zone of its activity, or in one that is chosen. */
export function Cron({
  label,
  value,
  zone: own = "",
  onChange,
}: {
  label: string;
  value: string;
  zone?: string;
  onChange: (value: string) => void;
}) {
  const [chosen, setZone] = useState("UTC");
  const hasOwn = own !== "";
  const zone = hasOwn ? own : chosen;
  const isKnown = useMemo(() => isZone(zone), [zone]);
  const next = useMemo(() => {
    if (!value.trim()) return [];
    if (!isKnown) return [];
    try {
      return nextTimes(value, 5, Date.now(), zone);
    } catch (error) {
      if (error instanceof NotCron) return w.reason(error.reason);
      throw error;
    }
  }, [value, zone, isKnown]);
  return (
    <div className="space-y-1.5">
      <input
        aria-label={label}
        autoComplete="off"
        placeholder="0 */5 * * * *"
        className="h-8 w-full rounded-md border border-line-strong/60 bg-raised px-2 font-mono text-sm"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      {!isKnown && value.trim() !== "" && <p className="text-xs text-waiting">{w.noZone(zone)}</p>}
      {isKnown && typeof next !== "string" && value.trim() !== "" && (
        <div className="rounded-md bg-sunken p-2 text-xs">
          <div className="mb-1 flex items-center gap-2">
            <span className="flex-1 font-medium text-soft">{w.next}</span>
            {hasOwn ? (
              <span>{own}</span>
            ) : (
              <select
                aria-label={w.zone}
                value={zone}
                onChange={(event) => setZone(event.target.value)}
                className="rounded-sm border border-line bg-raised"
              >
                {[...new Set(ZONES)].map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </select>
            )}
          </div>
          {next.length === 0 && w.never}
          <ol className="space-y-0.5 tabular-nums">
            {next.map((time) => (
              <li key={time}>{formatInZone(time, zone)}</li>
            ))}
          </ol>
        </div>
      )}
    </div>
  );
}
