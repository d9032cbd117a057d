import type { Api } from "../../api/types";
import { useAddress } from "../../app/address";
import { useNow } from "../../app/clock";
import { useSettings } from "../../app/settings";
import { formatTime } from "../../lib/format";
import { t } from "../../text";
import { Card } from "../../ui/Panel";
import { Tabs } from "../../ui/Tabs";

const DAY = 86_400_000;
const ROWS = 12;
const WIDTH = 1000;
const ROW = 22;

/** The next times of schedules beside each other, for a day or for a week. */
export function Axis({
  schedules,
  nameOf,
}: {
  schedules: readonly Api["ScheduleShown"][];
  nameOf: (schedule: Api["ScheduleShown"]) => string;
}) {
  const [search, change] = useAddress();
  const { time, language } = useSettings();
  const now = useNow();
  const span = search.span === "week" ? "week" : "day";
  const length = span === "week" ? 7 * DAY : DAY;
  const rows = schedules.filter((one) => one.nextAt).slice(0, ROWS);
  const marks = span === "week" ? 7 : 8;
  return (
    <Card>
      <Tabs
        label={t.schedules.axis}
        tabs={[
          { key: "day", word: t.schedules.day },
          { key: "week", word: t.schedules.week },
        ]}
        current={span}
        onChange={(next) => change({ span: next === "day" ? undefined : next })}
      >
        <div className="grid grid-cols-[12rem_minmax(0,1fr)] gap-x-3 p-4">
          <ul className="text-xs">
            {rows.map((one) => (
              <li key={one.id} className="h-[22px] truncate leading-[22px]" title={one.activityId}>
                {nameOf(one)} <span className="text-soft">{one.activityId}</span>
              </li>
            ))}
          </ul>
          <svg
            role="img"
            aria-label={t.schedules.axis}
            viewBox={`0 0 ${WIDTH} ${rows.length * ROW}`}
            preserveAspectRatio="none"
            className="w-full"
            height={rows.length * ROW}
          >
            {Array.from({ length: marks + 1 }, (_, at) => (
              <path
                // biome-ignore lint/suspicious/noArrayIndexKey: the marks of an axis are their places
                key={at}
                d={`M${(at * WIDTH) / marks} 0V${rows.length * ROW}`}
                stroke="var(--line)"
                vectorEffect="non-scaling-stroke"
              />
            ))}
            {rows.map((one, row) => (
              <path
                key={one.id}
                d={one.upcoming
                  .map((at) => ((Date.parse(at) - now) / length) * WIDTH)
                  .filter((x) => x >= 0 && x <= WIDTH)
                  .map((x) => `M${x.toFixed(1)} ${row * ROW + 4}v${ROW - 8}`)
                  .join("")}
                stroke="var(--accent)"
                strokeWidth={2}
                vectorEffect="non-scaling-stroke"
              />
            ))}
          </svg>
          <span />
          <div className="flex justify-between text-xs text-soft tabular-nums">
            {[0, 0.5, 1].map((part) => (
              <span key={part}>
                {formatTime(
                  new Date(now + part * length).toISOString(),
                  time === "relative" ? "local" : time,
                  now,
                  language,
                ).slice(5, 16)}
              </span>
            ))}
          </div>
        </div>
      </Tabs>
    </Card>
  );
}
