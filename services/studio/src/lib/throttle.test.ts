import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { throttle } from "./throttle";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it("runs at once, and once more for all that was asked for in the pause", () => {
  const run = vi.fn();
  const ask = throttle(run, 250);
  ask();
  expect(run).toHaveBeenCalledTimes(1);
  for (let time = 0; time < 1000; time += 1) ask();
  expect(run).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(250);
  expect(run).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(10_000);
  expect(run).toHaveBeenCalledTimes(2);
  ask();
  expect(run).toHaveBeenCalledTimes(3);
});

it("runs no more than once a pause, however often it is asked for", () => {
  const run = vi.fn();
  const ask = throttle(run, 250);
  for (let time = 0; time < 10_000; time += 10) {
    ask();
    vi.advanceTimersByTime(10);
  }
  expect(run).toHaveBeenCalledTimes(41);
});

it("waits for a run that takes longer than the pause, and for one that fails", async () => {
  const ends: ((error?: Error) => void)[] = [];
  const run = vi.fn(
    () => new Promise<void>((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve()))),
  );
  const ask = throttle(run, 250);
  ask();
  ask();
  await vi.advanceTimersByTimeAsync(5000);
  expect(run).toHaveBeenCalledTimes(1);
  ends[0]?.(new Error("no connection"));
  await vi.advanceTimersByTimeAsync(0);
  expect(run).toHaveBeenCalledTimes(2);
  ends[1]?.();
  await vi.advanceTimersByTimeAsync(5000);
  expect(run).toHaveBeenCalledTimes(2);
});

it("runs no more when it is stopped, and begins anew when it is asked again", async () => {
  let end: () => void = () => undefined;
  const run = vi.fn(
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
  );
  const ask = throttle(run, 250);
  ask();
  ask();
  ask.stop();
  end();
  await vi.advanceTimersByTimeAsync(1000);
  expect(run).toHaveBeenCalledTimes(1);
  ask();
  expect(run).toHaveBeenCalledTimes(2);
});
