import { useLayoutEffect, useRef, useState } from "react";
import type { Api } from "../../api/types";
import { useAddress } from "../../app/address";
import { useNow } from "../../app/clock";
import { useSettings } from "../../app/settings";
import { t } from "../../text";
import { Card } from "../../ui/Panel";
import { Tabs } from "../../ui/Tabs";
import { ActivityName } from "../incidents/ActivityName";
import { linesOn, marksOf, marksWithin, rowOf, SCALES, type Scale, scaleOf, stepText } from "./scale";

const WIDTH = 1000;
/** A row in units of the drawing, and in `rem`: the names beside it grow with the text. */
const ROW = 22;
const ROW_REM = 1.375;

/** An element, and the pixels that it is wide. */
function useWidth<E extends Element>() {
  const element = useRef<E>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (!element.current) return;
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0));
    setWidth(element.current.getBoundingClientRect().width);
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [element, width] as const;
}

/** The next times of schedules beside each other, on a scale that fits them, or on one that was chosen. */
export function Axis({
  schedules,
  asked,
  nameOf,
}: {
  schedules: readonly Api["ScheduleShown"][];
  /** The next times that were asked for, of each schedule. */
  asked: number;
  nameOf: (schedule: Api["ScheduleShown"]) => string;
}) {
  const [search, change] = useAddress();
  const { time } = useSettings();
  const now = useNow();
  const rows = linesOn(schedules);
  const was = useRef<Scale>(undefined);
  const scale = scaleOf(
    search.span,
    rows.flatMap((one) => one.nextAt ?? []),
    now,
    was.current,
  );
  was.current = scale;
  const [axis, width] = useWidth<HTMLOListElement>();
  const { marks, every } = marksWithin(marksOf(scale, now, time), width);
  return (
    <Card>
      <Tabs
        label={t.schedules.axis}
        tabs={SCALES.map(({ key }) => ({ key, word: t.schedules.spans[key] }))}
        current={scale.key}
        onChange={(span) => change({ span })}
      >
        {rows.length === 0 && <p className="px-4 pt-4 text-sm text-soft">{t.schedules.noneFires}</p>}
        <div className="grid grid-cols-[12rem_minmax(0,1fr)] gap-x-3 p-4 pr-16 max-sm:grid-cols-[7rem_minmax(0,1fr)]">
          <ul className="text-xs">
            {rows.map((one) => (
              <li key={one.id} className="h-[1.375rem] truncate leading-[1.375rem]" title={one.activityId}>
                {nameOf(one)} <ActivityName of={one} />
              </li>
            ))}
          </ul>
          <div className="relative">
            <svg
              role="img"
              aria-label={`${t.schedules.axis}: ${t.schedules.spans[scale.key]}`}
              viewBox={`0 0 ${WIDTH} ${rows.length * ROW}`}
              preserveAspectRatio="none"
              className="block w-full"
              style={{ height: `${rows.length * ROW_REM}rem` }}
            >
              {marks.map(({ part }) => (
                <path
                  key={part}
                  d={`M${part * WIDTH} 0V${rows.length * ROW}`}
                  stroke="var(--line)"
                  vectorEffect="non-scaling-stroke"
                />
              ))}
              {rows.map((one, row) => {
                const { at, onFrom } = rowOf(one.upcoming, asked, scale, now);
                const middle = row * ROW + ROW / 2;
                return (
                  <g key={one.id}>
                    {onFrom !== undefined && (
                      <path
                        d={`M${(onFrom * WIDTH).toFixed(1)} ${middle}H${WIDTH}`}
                        stroke="var(--accent)"
                        strokeDasharray="2 4"
                        vectorEffect="non-scaling-stroke"
                      />
                    )}
                    <path
                      d={at
                        .map((part) => `M${(part * WIDTH).toFixed(1)} ${row * ROW + 4}v${ROW - 8}`)
                        .join("")}
                      stroke="var(--accent)"
                      strokeWidth={2}
                      vectorEffect="non-scaling-stroke"
                    />
                  </g>
                );
              })}
            </svg>
            {rows.map(
              (one, row) =>
                !one.nextAt && (
                  <span
                    key={one.id}
                    className="absolute left-0 bg-raised pr-1 text-xs leading-[1.375rem] text-soft"
                    style={{ top: `${row * ROW_REM}rem` }}
                  >
                    {t.schedules.pausedLine}
                  </span>
                ),
            )}
          </div>
          <span className="pt-1 text-xs text-soft">{t.schedules.step(stepText(scale, every))}</span>
          <ol
            ref={axis}
            aria-label={t.schedules.marks}
            className="relative min-h-6 text-xs text-soft tabular-nums"
          >
            {marks.map(({ part, label }) => (
              <li
                key={part}
                className="absolute top-1 whitespace-nowrap"
                style={{ left: `${(100 * part).toFixed(2)}%` }}
              >
                {label}
              </li>
            ))}
          </ol>
        </div>
      </Tabs>
    </Card>
  );
}
