import { describe, expect, it } from "vitest";
import { linesOn, marksOf, marksWithin, rowOf, SCALES, scaleOf, stepText } from "./scale";

const NOW = Date.parse("2026-11-25T12:00:00Z");
const inSeconds = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();
const scale = (key: string) => scaleOf(key, [], NOW);

describe("the axis of schedules", () => {
  it.each([
    [[5, 30], "minute"],
    [[5, 61], "hour"],
    [[5, 3 * 3600], "day"],
    [[5, 2 * 86_400], "week"],
    [[90 * 86_400], "week"],
    [[], "minute"],
    [[-3], "minute"],
  ])("is as long as the next times need: %j", (seconds, key) =>
    expect(scaleOf(undefined, seconds.map(inSeconds), NOW).key).toBe(key),
  );

  it("stays as it was when the last schedule is paused", () => {
    expect(scaleOf(undefined, [], NOW, scale("hour")).key).toBe("hour");
    expect(scaleOf("week", [], NOW, scale("hour")).key).toBe("week");
    expect(scaleOf(undefined, [inSeconds(5)], NOW, scale("hour")).key).toBe("minute");
  });

  it("keeps the line of a schedule that is paused, and has none for one that is over", () => {
    const fires = { id: "1", nextAt: inSeconds(5), isPaused: false };
    const other = { id: "2", nextAt: inSeconds(9), isPaused: false };
    const over = { id: "3", nextAt: null, isPaused: false };
    const ids = (...all: (typeof fires | typeof over)[]) => linesOn(all).map(({ id }) => id);
    expect(ids(fires, over, other)).toEqual(["1", "2"]);
    expect(ids({ ...fires, nextAt: null, isPaused: true }, over, other)).toEqual(["1", "2"]);
    expect(linesOn(Array.from({ length: 20 }, () => fires))).toHaveLength(12);
  });

  it("is what was asked for, if there is such a one", () => {
    expect(scaleOf("week", [inSeconds(5)], NOW).key).toBe("week");
    expect(scaleOf("year", [inSeconds(5)], NOW).key).toBe("minute");
  });

  it("has marks with the parts of a time that differ", () => {
    const labels = (key: string) => marksOf(scale(key), NOW, "utc").map(({ label }) => label);
    expect(labels("minute").slice(0, 3)).toEqual(["12:00:00", "12:00:10", "12:00:20"]);
    expect(labels("hour").slice(0, 3)).toEqual(["12:00", "12:10", "12:20"]);
    expect(labels("day").slice(0, 3)).toEqual(["12:00", "15:00", "18:00"]);
    expect(labels("week").slice(0, 3)).toEqual(["11-26", "11-27", "11-28"]);
    expect(marksOf(scale("minute"), NOW, "relative")[1]).toMatchObject({ label: "+10 s" });
    for (const one of SCALES.filter(({ key }) => key !== "week")) {
      const marks = marksOf(one, NOW, "utc");
      expect([marks[0]?.part, marks.at(-1)?.part]).toEqual([0, 1]);
    }
    expect(SCALES.map((one) => stepText(one))).toEqual(["10 s", "10 min", "3 h", "1 d"]);
  });

  it("has the marks of days at midnight, so that a time is on the right side of its day", () => {
    const night = (Date.parse("2026-11-26T03:00:00Z") - NOW) / scale("week").length;
    for (const time of ["utc", "local"] as const) {
      const marks = marksOf(scale("week"), NOW, time);
      expect(marks).toHaveLength(7);
      expect(marks.every(({ part }) => part > 0 && part <= 1)).toBe(true);
    }
    const [first] = marksOf(scale("week"), NOW, "utc");
    expect(first).toMatchObject({ part: 0.5 / 7, label: "11-26" });
    expect(night).toBeGreaterThan(first?.part ?? 1);
    expect(marksOf(scale("week"), NOW, "relative")[1]).toMatchObject({ label: "+1 d" });
  });

  it("has fewer marks where labels would overlap", () => {
    for (const one of SCALES)
      for (const time of ["utc", "relative"] as const)
        for (const width of [60, 150, 200, 320, 640, 930]) {
          const all = marksOf(one, NOW, time);
          const { marks, every } = marksWithin(all, width);
          expect(marks[0]).toEqual(all[0]);
          expect(marks).toEqual(all.filter((_, at) => at % every === 0));
          const lefts = marks.map(({ part }) => part * width);
          // A digit of the labels is about 7 pixels wide.
          const overlaps = marks.filter(
            ({ label }, at) => (lefts[at] ?? 0) + label.length * 7 > (lefts[at + 1] ?? Infinity),
          );
          expect(overlaps, `${one.key} ${time} ${width}`).toEqual([]);
        }
    const labels = (key: string, width: number) =>
      marksWithin(marksOf(scale(key), NOW, "utc"), width).marks.map(({ label }) => label);
    expect(labels("minute", 150)).toEqual(["12:00:00", "12:00:30", "12:01:00"]);
    expect(labels("hour", 150)).toEqual(["12:00", "12:20", "12:40", "13:00"]);
    expect(labels("minute", 930)).toHaveLength(7);
    expect(labels("week", 930)).toHaveLength(7);
    expect(labels("minute", 0)).toEqual(["12:00:00"]);
    expect(marksWithin([], 100)).toEqual({ marks: [], every: 1 });
    expect(stepText(scale("minute"), 3)).toBe("30 s");
    expect(stepText(scale("day"), 2)).toBe("6 h");
  });

  it("says where it knows no more times, and tells short timers apart", () => {
    const every = (seconds: number) => Array.from({ length: 4 }, (_, at) => inSeconds((at + 1) * seconds));
    expect(rowOf(every(3), 4, scale("minute"), NOW)).toEqual({ at: [0.05, 0.1, 0.15, 0.2], onFrom: 0.2 });
    expect(rowOf(every(15), 4, scale("minute"), NOW)).toEqual({
      at: [0.25, 0.5, 0.75, 1],
      onFrom: undefined,
    });
    expect(rowOf([inSeconds(30)], 4, scale("minute"), NOW)).toEqual({ at: [0.5], onFrom: undefined });
  });
});
