import { expect, it } from "vitest";
import { partsOf, placesOf } from "./sentence";

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
    { words: " (" },
    { words: "1 s", ago: AT },
    { words: ")." },
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

it("counts on: how long ago it was, and how long it takes until then", () => {
  const of = (text: string) =>
    partsOf(text, nameOf).flatMap(({ words, ago, left }) => (ago || left ? [{ words, ago, left }] : []));
  expect(
    of(
      `It waits until ${AT} (another 32 min) at activity pay, since ${AT} (2 days), and the node b fires it.`,
    ),
  ).toEqual([
    { words: "32 min", left: AT },
    { words: "2 days", ago: AT },
  ]);
  expect(of(`The timer of activity pay was due at ${AT}, 40 s ago, and no node lives.`)).toEqual([
    { words: "40 s", ago: AT },
  ]);
  expect(of(`"since ${AT} (1 s)"`)).toEqual([]);
  expect(of(`It goes on at ${AT}, 3 times.`)).toEqual([]);
  const text = `It is Faulted since ${AT} (3 h): no.`;
  expect(
    partsOf(text, nameOf)
      .map(({ words }) => words)
      .join(""),
  ).toBe(text.replace("is Faulted", "is faulted"));
});

it("says of several findings at which activity each is", () => {
  const at = (activity: string) => `It waits for the event "x" at activity ${activity}, since ${AT} (1 s).`;
  const both = [at("pay"), at("f2904b6dce7a1835"), "It has an incident."];
  expect(placesOf(both, nameOf)).toEqual(["Pay", "Wait for the approval", undefined]);
  expect(placesOf([at("pay"), at("pay")], nameOf)).toEqual([undefined, undefined]);
  expect(placesOf([at("pay"), 'It failed: "activity pay"'], nameOf)).toEqual(["Pay", undefined]);
  expect(placesOf([at("pay"), at("unknown")], nameOf)).toEqual(["Pay", "unknown"]);
});
