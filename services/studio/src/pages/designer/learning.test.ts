import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { isSameTypes } from "../../graph/words";
import { type ActivityType, Types } from "../../model/descriptors";
import { TYPES } from "../../model/testing";
import { Studio } from "./store";

const [some] = TYPES.offered();
const charge: ActivityType = { ...(some as ActivityType), typeName: "Acme.Charge", displayName: "Charge" };
const doc = { root: { id: "a", type: "Elsa.Flowchart", activities: [{ id: "b", type: "Acme.Charge" }] } };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a type that a worker registers while the designer is open is known, and no problem any more", () => {
  const studio = new Studio(doc, TYPES, undefined, undefined);
  vi.runAllTimers();
  const isUnknown = () => studio.get().problems.some(({ fault }) => fault.is === "type");
  expect(isUnknown()).toBe(true);
  const before = studio.get().history;
  studio.learn(new Types([...TYPES.all, charge]));
  vi.runAllTimers();
  expect(isUnknown()).toBe(false);
  expect(studio.get().index.types.offered()).toContain(charge);
  expect(studio.get().history).toBe(before);
});

test("the same answer is the same", () => {
  expect(isSameTypes(TYPES, new Types(structuredClone(TYPES.all)))).toBe(true);
  expect(isSameTypes(TYPES, new Types([...TYPES.all, charge]))).toBe(false);
});
