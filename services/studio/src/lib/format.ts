import { language as spoken } from "../text";
import { visible } from "./visible";

export type TimeMode = "utc" | "local" | "relative";

const two = (value: number) => String(value).padStart(2, "0");

function inWords(milliseconds: number, language: string): string {
  const seconds = Math.round(milliseconds / 1000);
  const size = Math.abs(seconds);
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" });
  if (size < 60) return relative.format(seconds, "second");
  if (size < 3600) return relative.format(Math.trunc(seconds / 60), "minute");
  if (size < 86_400) return relative.format(Math.trunc(seconds / 3600), "hour");
  return relative.format(Math.trunc(seconds / 86_400), "day");
}

/** A time of the server, as the reader wants to see it. */
export function formatTime(iso: string, mode: TimeMode, now: number, language = "en", exact = false): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  if (mode === "relative" && !exact) return inWords(at.getTime() - now, language);
  const text =
    mode === "local" || mode === "relative"
      ? `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
      : at.toISOString().slice(0, 19).replace("T", " ");
  const milliseconds = `.${String(at.getUTCMilliseconds()).padStart(3, "0")}`;
  return exact ? text + milliseconds : text;
}

/** A time in a zone of its own, in the form of all others. */
export function formatInZone(time: number, zone: string): string {
  const parts = new Intl.DateTimeFormat("en", {
    timeZone: zone,
    calendar: "gregory",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  }).formatToParts(time);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((one) => one.type === type)?.value ?? "";
  return `${part("year")}-${part("month")}-${part("day")} ${part("hour")}:${part("minute")}:${part("second")}`;
}

/** A number with this many decimals, and the point or comma of the language. */
export function formatDecimal(value: number, decimals: number, language: string = spoken): string {
  return new Intl.NumberFormat(language, {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
    useGrouping: false,
  }).format(value);
}

export function formatDuration(milliseconds: number, language: string = spoken): string {
  if (milliseconds < 0) return `-${formatDuration(-milliseconds, language)}`;
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${formatDecimal(seconds, seconds < 10 ? 1 : 0, language)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** The units of a long duration: the larger one, the smaller one, and how many of it are one of the larger one. */
const PAIRS = [
  { large: "d", small: "h", count: 24, milliseconds: 3_600_000, from: 48 },
  { large: "h", small: "min", count: 60, milliseconds: 60_000, from: 60 },
  { large: "min", small: "s", count: 60, milliseconds: 1000, from: 60 },
] as const;

/** Quarters of a duration, from none to the whole: all in the same form, and no two of them alike. */
export function formatQuarters(milliseconds: number, language: string = spoken): string[] {
  const quarters = [0, 1, 2, 3, 4].map((count) => (milliseconds * count) / 4);
  const pair = PAIRS.find((one) => milliseconds >= one.from * one.milliseconds);
  if (pair) {
    return quarters.map((quarter) => {
      const whole = Math.floor(quarter / pair.milliseconds);
      return `${Math.floor(whole / pair.count)} ${pair.large} ${whole % pair.count} ${pair.small}`;
    });
  }
  const [unit, length] = milliseconds < 1000 ? (["ms", 1] as const) : (["s", 1000] as const);
  const most = milliseconds / length;
  const decimals = most < 4 ? 2 : most < 40 ? 1 : 0;
  return quarters.map((quarter) => `${formatDecimal(quarter / length, decimals, language)} ${unit}`);
}

export function formatBytes(bytes: number, language: string = spoken): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = -1;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${formatDecimal(value, value < 10 ? 1 : 0, language)} ${units[unit]}`;
}

export function formatCount(value: number, language = "en"): string {
  return new Intl.NumberFormat(language).format(value);
}

/** The end of a long id is what differs between neighbours. */
export function shortId(value: string): string {
  return value.length <= 16 ? value : `${value.slice(0, 4)}…${value.slice(-8)}`;
}

/** `Elsa.Http.HttpEndpoint` and `Elsa.WriteLine` as people say them. */
export function typeName(value: string): string {
  const last = value.split(".").at(-1) ?? value;
  return last.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/\bJava Script\b/g, "JavaScript");
}

/** Milliseconds of `30m`, `2h`, `7d`; undefined where it is no such text. */
export function spanOf(text: string): number | undefined {
  const match = /^(\d+)\s*(s|m|h|d)$/.exec(text.trim());
  if (!match) return undefined;
  const units: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
  return Number(match[1]) * (units[match[2] ?? "s"] ?? 1000);
}

/** What an activity is called: its name, or its id where somebody chose it, or its type. */
export function activityWord(id: string, name: string | null | undefined, type: string): string {
  if (name) return visible(name);
  return /^[0-9a-f]{12,}$/.test(id) ? typeName(type) : visible(id);
}
