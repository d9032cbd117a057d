import { expect, it } from "vitest";
import { faultedOf, runningOf, starterWord } from "./columns";

const words = (type: string) => (type === "Elsa.Cron" ? "Cron" : type);

it("a trigger is named with its schedule where the text has one", () => {
  const cron = { activityId: "a", activityType: "Elsa.Cron", value: "0 3 * * *" };
  expect(starterWord(cron, words)).toBe("Cron 0 3 * * *");
  expect(starterWord({ ...cron, value: null }, words)).toBe("Cron");
});

it("what runs is what the server counted, and at least that where it stopped counting", () => {
  const of = { pending: 0, executing: 1, suspended: 2, count: 3 };
  const faulted = { faulted: [{ definitionId: "b", count: 2 }], isFaultedCutShort: false };
  const counted = { items: [{ definitionId: "a", ...of }], isCutShort: false, countedMax: 5000, ...faulted };
  expect([faultedOf("a", counted), faultedOf("b", counted)]).toEqual(["0", "2"]);
  expect(faultedOf("b", { ...counted, isFaultedCutShort: true })).toBe("≥ 2");
  expect([runningOf("a", counted), runningOf("b", counted)]).toEqual(["3", "0"]);
  expect(runningOf("a", { ...counted, isCutShort: true })).toBe("≥ 3");
  expect(runningOf("a", undefined)).toBeUndefined();
});
