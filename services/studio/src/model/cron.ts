import type { CronField, Reason } from "./reasons";

/** Cron expressions as the server reads them: five fields, or six with seconds first. */
interface Field {
  name: CronField;
  from: number;
  to: number;
  words?: readonly string[];
}

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

const FIELDS: readonly Field[] = [
  { name: "second", from: 0, to: 59 },
  { name: "minute", from: 0, to: 59 },
  { name: "hour", from: 0, to: 23 },
  { name: "day of month", from: 1, to: 31 },
  { name: "month", from: 1, to: 12, words: MONTHS },
  { name: "day of week", from: 0, to: 7, words: DAYS },
];

export class NotCron extends Error {
  override readonly name = "NotCron";

  constructor(readonly reason: Reason) {
    super(reason.is);
  }
}

function numberOf(text: string, field: Field): number {
  const word = field.words?.indexOf(text.toUpperCase()) ?? -1;
  const value = word >= 0 ? word + (field.name === "month" ? 1 : 0) : Number(text);
  if (!/^\w+$/.test(text) || !Number.isInteger(value) || value < field.from || value > field.to) {
    throw new NotCron({ is: "cronValue", text, field: field.name, from: field.from, to: field.to });
  }
  return value;
}

function partOf(part: string, field: Field, into: Set<number>): void {
  const [range = "", every] = part.split("/");
  const step = every === undefined ? 1 : Number(every);
  if (!Number.isInteger(step) || step < 1)
    throw new NotCron({ is: "cronStep", text: every ?? "", field: field.name });
  let from = field.from;
  let to = field.to;
  if (range !== "*" && range !== "?") {
    const [first = "", last] = range.split("-");
    from = numberOf(first, field);
    to = last === undefined ? (every === undefined ? from : field.to) : numberOf(last, field);
  }
  if (to < from) throw new NotCron({ is: "cronOrder", text: range });
  for (let value = from; value <= to; value += step)
    into.add(field.name === "day of week" ? value % 7 : value);
}

interface Special {
  last: boolean;
  weekday?: number;
  nth?: number;
}

export interface Cron {
  sets: readonly ReadonlySet<number>[];
  isDayFree: boolean;
  isWeekdayFree: boolean;
  lastDay: boolean;
  special?: Special;
}

function weekdayOf(text: string): Special | undefined {
  const field = FIELDS[5];
  const found = /^(\w+?)(?:#([1-5])|L)$/i.exec(text);
  if (!found || !field) return undefined;
  const weekday = numberOf(found[1] ?? "", field) % 7;
  return found[2] ? { last: false, weekday, nth: Number(found[2]) } : { last: true, weekday };
}

export function readCron(text: string): Cron {
  const parts = text.trim().split(/\s+/);
  if (parts.length === 5) parts.unshift("0");
  if (parts.length !== 6) throw new NotCron({ is: "cronFields" });
  const lastDay = parts[3]?.toUpperCase() === "L";
  const special = weekdayOf(parts[5] ?? "");
  const sets = FIELDS.map((field, at) => {
    const values = new Set<number>();
    const isSpecial = (at === 3 && lastDay) || (at === 5 && special !== undefined);
    for (const part of isSpecial ? ["*"] : (parts[at] ?? "").split(",")) partOf(part, field, values);
    return values;
  });
  const isFree = (at: number) => /^[*?]$/.test(parts[at] ?? "");
  return { sets, isDayFree: isFree(3), isWeekdayFree: isFree(5), lastDay, ...(special ? { special } : {}) };
}

function isDay(cron: Cron, date: Date): boolean {
  const day = date.getUTCDate();
  const weekday = date.getUTCDay();
  const length = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  if (!cron.sets[4]?.has(date.getUTCMonth() + 1)) return false;
  const { special } = cron;
  const isMonthDay = cron.lastDay ? day === length : (cron.sets[3]?.has(day) ?? false);
  let isWeekday = cron.sets[5]?.has(weekday) ?? false;
  if (special) {
    isWeekday =
      weekday === special.weekday && (special.last ? day + 7 > length : Math.ceil(day / 7) === special.nth);
  }
  return cron.isDayFree ? isWeekday : cron.isWeekdayFree ? isMonthDay : isMonthDay && isWeekday;
}

/** The distance of a zone from UTC at a time, in milliseconds. */
function offsetAt(zone: string, time: number): number {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  }).formatToParts(time);
  const of = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  const wall = Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second"));
  return wall - Math.floor(time / 1000) * 1000;
}

const DAY = 86_400_000;

/** The next times, as milliseconds; a wall time that a change of clocks leaves out has none. */
export function nextTimes(text: string, count: number, after = Date.now(), zone = "UTC"): number[] {
  const cron = readCron(text);
  const times: number[] = [];
  const start = after + offsetAt(zone, after);
  const sorted = (at: number) => [...(cron.sets[at] ?? [])].sort((one, other) => one - other);
  const [seconds, minutes, hours] = [sorted(0), sorted(1), sorted(2)];
  for (let day = 0; day < 366 * 8 && times.length < count; day++) {
    const midnight = Math.floor(start / DAY) * DAY + day * DAY;
    if (!isDay(cron, new Date(midnight))) continue;
    for (const hour of hours) {
      if (midnight + (hour + 1) * 3_600_000 <= start) continue;
      for (const minute of minutes) {
        for (const second of seconds) {
          const wall = midnight + ((hour * 60 + minute) * 60 + second) * 1000;
          if (wall <= start) continue;
          const time = wall - offsetAt(zone, wall - offsetAt(zone, wall));
          if (time > after && time + offsetAt(zone, time) === wall) times.push(time);
          if (times.length >= count) return times;
        }
      }
    }
  }
  return times;
}
