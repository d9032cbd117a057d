import { formatTime, type TimeMode } from "../../lib/format";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** What an axis shows, and how far its marks are from each other. */
export interface Scale {
  readonly key: "minute" | "hour" | "day" | "week";
  readonly length: number;
  readonly step: number;
}

const WEEK: Scale = { key: "week", length: 7 * DAY, step: DAY };

export const SCALES: readonly Scale[] = [
  { key: "minute", length: MINUTE, step: 10 * SECOND },
  { key: "hour", length: HOUR, step: 10 * MINUTE },
  { key: "day", length: DAY, step: 3 * HOUR },
  WEEK,
];

/**
 * The scale that was asked for, or the shortest one on which each schedule has its next time. Where none has one, the
 * scale stays as it was.
 */
export function scaleOf(
  asked: string | undefined,
  nexts: readonly string[],
  now: number,
  was?: Scale,
): Scale {
  const last = Math.max(0, ...nexts.map((at) => Date.parse(at) - now));
  const chosen = SCALES.find(({ key }) => key === asked) ?? (nexts.length === 0 ? was : undefined);
  return chosen ?? SCALES.find(({ length }) => last <= length) ?? WEEK;
}

/** A span of whole seconds, minutes, hours or days. */
function spanText(milliseconds: number): string {
  if (milliseconds >= DAY) return `${milliseconds / DAY} d`;
  if (milliseconds >= HOUR) return `${milliseconds / HOUR} h`;
  return milliseconds >= MINUTE ? `${milliseconds / MINUTE} min` : `${milliseconds / SECOND} s`;
}

export interface Mark {
  /** Its place, from 0 to 1. */
  part: number;
  label: string;
}

/** The marks of an axis: seconds only where they matter, days where hours do not. Those of days are midnights. */
export function marksOf({ key, length, step }: Scale, now: number, time: TimeMode): Mark[] {
  if (time === "relative")
    return Array.from({ length: Math.round(length / step) + 1 }, (_, at) => ({
      part: (at * step) / length,
      label: at === 0 ? "0" : `+${spanText(at * step)}`,
    }));
  return timesOf({ key, length, step }, now, time).map((at) => {
    const text = formatTime(new Date(at).toISOString(), time, now);
    const label =
      key === "week" ? text.slice(5, 10) : key === "minute" ? text.slice(11, 19) : text.slice(11, 16);
    return { part: (at - now) / length, label };
  });
}

/** The width of a character of a label, and the space between two labels, in pixels. */
const CHARACTER = 7.5;
const GAP = 12;

/** The marks of an axis that have room for their labels: each, or each second, third and so on. */
export function marksWithin(marks: readonly Mark[], width: number): { marks: Mark[]; every: number } {
  const [first, second] = marks;
  const between = first && second ? (second.part - first.part) * width : 0;
  const room = Math.max(0, ...marks.map(({ label }) => label.length)) * CHARACTER + GAP;
  const every = between > 0 ? Math.min(Math.ceil(room / between), marks.length) : Math.max(marks.length, 1);
  return { marks: marks.filter((_, at) => at % every === 0), every };
}

/** The times of the marks: from now on, or the midnights to come. */
function timesOf({ key, length, step }: Scale, now: number, time: "utc" | "local"): number[] {
  const count = Math.round(length / step);
  if (key !== "week") return Array.from({ length: count + 1 }, (_, at) => now + at * step);
  if (time === "utc") return Array.from({ length: count }, (_, at) => Math.ceil(now / DAY + at) * DAY);
  // A day in which clocks are changed has another length.
  return Array.from({ length: count }, (_, at) => new Date(now).setHours(24 * (at + 1), 0, 0, 0));
}

/** The text of a step between marks that are shown, for who reads the axis. */
export const stepText = ({ step }: Scale, every = 1): string => spanText(step * every);

/** The most schedules that the axis has a line for. */
const LINES = 12;

/** The schedules that have a line on the axis: those that fire again, now or when they are no longer paused. */
export const linesOn = <S extends { nextAt?: string | null; isPaused: boolean }>(
  schedules: readonly S[],
): S[] => schedules.filter(({ nextAt, isPaused }) => nextAt || isPaused).slice(0, LINES);

/** What a row of the axis shows: its times as parts of it, and from where its times are not known any more. */
export interface Row {
  at: number[];
  onFrom: number | undefined;
}

/** A schedule that has as many times as were asked for goes on after the last of them. */
export function rowOf(upcoming: readonly string[], asked: number, { length }: Scale, now: number): Row {
  const parts = upcoming.map((at) => (Date.parse(at) - now) / length);
  const last = parts.at(-1);
  const goesOn = upcoming.length >= asked && last !== undefined && last < 1;
  return {
    at: parts.filter((part) => part >= 0 && part <= 1),
    onFrom: goesOn ? Math.max(0, last) : undefined,
  };
}
