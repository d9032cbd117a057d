import { expect, it } from "vitest";
import { partsOf } from "./sentence";

const NAMES: Record<string, string> = {
  f2904b6dce7a1835: "Wait for the approval",
  pay: "Pay",
  the: "Not me",
};
const nameOf = (activity: string, otherwise: string) => NAMES[activity] ?? otherwise;
const AT = "2026-11-27T00:24:27.657Z";

it("puts names for the ids of activities, and finds the times", () => {
  const text = `It waits for the event "OrderApproved" at activity f2904b6dce7a1835, since ${AT} (1 s).`;
  expect(partsOf(text, nameOf).map(({ key: _, ...part }) => part)).toEqual([
    { words: 'It waits for the event "OrderApproved" at activity ' },
    { words: "Wait for the approval", activity: "f2904b6dce7a1835" },
    { words: ", since " },
    { words: AT, time: AT },
    { words: " (1 s)." },
  ]);
  expect(partsOf("The timer of activity pay was due.", nameOf)[1]).toMatchObject({ words: "Pay" });
});

it("leaves everything else as it is: other words, other ids, what is quoted", () => {
  for (const text of [
    "It goes on with the pay.",
    "Its child 01a21a639d2f72aaae0e0394da4e03a7 runs.",
    "",
    '"activity pay"',
  ])
    expect(partsOf(text, nameOf).map(({ words }) => words)).toEqual(text ? [text] : []);
});

it("tells the instances that it knows from other ids, and calls states as the pages do", () => {
  const child = "01a21a639d2f72aaae0e0394da4e03a7";
  const text = `It waits for the end of its child ${child}, which is Suspended.`;
  expect(partsOf(text, nameOf, [child]).map(({ key: _, ...part }) => part)).toEqual([
    { words: "It waits for the end of its child " },
    { words: child, instance: child },
    { words: ", which " },
    { words: "waits" },
    { words: "." },
  ]);
  const said = (sentence: string) =>
    partsOf(sentence, nameOf, ["i-2"])
      .map(({ words }) => words)
      .join("");
  expect(said("It is Suspended, and nothing is in its way.")).toBe("It waits, and nothing is in its way.");
  expect(
    partsOf("Its child i-2 runs; i-22 is another one.", nameOf, ["i-2"]).map((one) => one.instance),
  ).toEqual([undefined, "i-2", undefined]);
  expect(said('It failed: "it is Suspended"')).toBe('It failed: "it is Suspended"');
});
