import { describe, expect, it } from "vitest";
import {
  formatBytes,
  formatDecimal,
  formatDuration,
  formatInZone,
  formatQuarters,
  formatTime,
  shortId,
  spanOf,
  typeName,
} from "./format";

const AT = "2026-11-25T09:05:07.042Z";
const NOW = Date.parse("2026-11-25T12:05:07Z");

describe("times", () => {
  it("of another zone have the form of all others", () => {
    expect(formatInZone(Date.parse(AT), "UTC")).toBe("2026-11-25 09:05:07");
    expect(formatInZone(Date.parse(AT), "Asia/Tokyo")).toBe("2026-11-25 18:05:07");
    expect(formatInZone(Date.parse("2026-11-24T23:00:00Z"), "Europe/Berlin")).toBe("2026-11-25 00:00:00");
  });

  it("are shown in UTC, with milliseconds where they matter", () => {
    expect(formatTime(AT, "utc", NOW)).toBe("2026-11-25 09:05:07");
    expect(formatTime(AT, "utc", NOW, "en", true)).toBe("2026-11-25 09:05:07.042");
  });

  it("are shown relative to now, in the language of the reader", () => {
    expect(formatTime(AT, "relative", NOW)).toBe("3 hr. ago");
    expect(formatTime(AT, "relative", NOW, "de")).toBe("vor 3 Std.");
  });

  it("are shown as they are where they are no times", () =>
    expect(formatTime("soon", "utc", NOW)).toBe("soon"));
});

it.each([
  [4, "4 ms"],
  [1500, "1.5 s"],
  [42_000, "42 s"],
  [61_000, "1 min 1 s"],
  [7_260_000, "2 h 1 min"],
  [200_000_000, "2 d 7 h"],
])("formats %d ms as %s", (milliseconds, text) => expect(formatDuration(milliseconds)).toBe(text));

it.each([
  [512, "512 B"],
  [1536, "1.5 KiB"],
  [268_435_456, "256 MiB"],
])("formats %d bytes as %s", (bytes, text) => expect(formatBytes(bytes)).toBe(text));

it.each([
  ["2h", 7_200_000],
  ["30 m", 1_800_000],
  ["7d", 604_800_000],
  ["2 weeks", undefined],
])("reads the span %s", (text, span) => expect(spanOf(text)).toBe(span));

it("writes decimals as the reader does", () => {
  expect(formatDuration(1500, "de")).toBe("1,5 s");
  expect(formatDuration(-1500, "de")).toBe("-1,5 s");
  expect(formatBytes(1536, "de")).toBe("1,5 KiB");
  expect(formatDecimal(1234.56, 1, "de")).toBe("1234,6");
  expect(formatDecimal(1234.56, 1, "en")).toBe("1234.6");
});

it("shortens long ids and says types as people do", () => {
  expect(shortId("01a213d3b23870af9b3953caeef38b57")).toBe("01a2…eef38b57");
  expect(shortId("invoice")).toBe("invoice");
  expect(typeName("Elsa.HttpEndpoint")).toBe("Http Endpoint");
  expect(typeName("Elsa.RunJavaScript")).toBe("Run JavaScript");
});

it("the quarters of a duration have one form, and none is like another", () => {
  expect(formatQuarters(1, "en")).toEqual(["0.00 ms", "0.25 ms", "0.50 ms", "0.75 ms", "1.00 ms"]);
  expect(formatQuarters(1200, "en")).toEqual(["0.00 s", "0.30 s", "0.60 s", "0.90 s", "1.20 s"]);
  expect(formatQuarters(10, "en")).toEqual(["0.0 ms", "2.5 ms", "5.0 ms", "7.5 ms", "10.0 ms"]);
  expect(formatQuarters(60_000)).toEqual([
    "0 min 0 s",
    "0 min 15 s",
    "0 min 30 s",
    "0 min 45 s",
    "1 min 0 s",
  ]);
  expect(formatQuarters(7_200_000).at(1)).toBe("0 h 30 min");
  const lengths = [1, 2, 3, 4, 5, 39, 40, 41, 999, 1000, 1001, 3999, 4000, 39_999, 40_001, 59_999, 60_001];
  for (const length of [...lengths, 3_599_999, 3_600_000, 172_799_999, 172_800_000, 9e9]) {
    const labels = formatQuarters(length, "en");
    expect(new Set(labels).size, `${length}`).toBe(5);
    expect(new Set(labels.map((label) => label.replace(/\d+/g, "0"))).size, `${length}`).toBe(1);
  }
});
