import { expect, test } from "vitest";
import { burstKey, namesOfRound } from "./loops";

const line = (activityId: string, eventName = "Completed") => ({ activityId, eventName });

test("bursts of one round each are alike, however often an inner loop went round", () => {
  const burst = (times: number) => [
    line("loop", "Started"),
    ...Array.from({ length: times }, () => line("charge")),
    line("wait", "Suspended"),
  ];
  expect(burstKey(burst(4))).toBe(burstKey(burst(9)));
  expect(burstKey(burst(4))).not.toBe(burstKey([line("loop", "Started"), line("other")]));
});

test("a round is named by its activities, each once", () => {
  const round = ["a", "a", "b", "c", "d", "e"].map((id) => line(id));
  const { names, more } = namesOfRound(round, ({ activityId }) => activityId.toUpperCase());
  expect([names, more]).toEqual([["A", "B", "C"], 2]);
});
