import { describe, expect, it } from "vitest";
import { type Index, nameOf as nameInDesigner } from "../model/activities";
import { indexOf, TYPES } from "../model/testing";
import { aboutOf, activitiesIn, nameOf, titlesOf, withId } from "./activities";
import { typeWordsOf } from "./words";

const line = (id: string, more: object = {}) => ({ id, type: "Elsa.WriteLine", ...more });
const root = {
  id: "f",
  type: "Elsa.Flowchart",
  activities: [
    line("WriteLine1"),
    line("WriteLine2"),
    line("c", { name: "Greets" }),
    line("d", { metadata: { displayText: "Says good bye" } }),
    { id: "If1", type: "Elsa.FlowDecision" },
  ],
};

describe("the titles of activities", () => {
  it("are those of the designer", () => {
    const words = typeWordsOf(TYPES);
    const index: Index = indexOf({ root } as never);
    for (const [id, activity] of activitiesIn(root)) {
      const entry = index.get(id);
      expect(nameOf(activity, words)).toBe(entry && nameInDesigner(entry.activity, index.type(entry)));
    }
  });

  it("have the id beside them in lists where two have the same one", () => {
    const titles = titlesOf(activitiesIn(root));
    expect([...titles.values()]).toEqual([
      "Flowchart",
      "Write Line (WriteLine1)",
      "Write Line (WriteLine2)",
      "Greets",
      "Says good bye",
      "Flow Decision",
    ]);
  });

  it("have the type below them, or the id where they say the type themselves", () => {
    expect(aboutOf(line("WriteLine1"))).toBe("WriteLine1");
    expect(aboutOf(line("c", { name: "Greets" }))).toBe("Write Line");
    expect(aboutOf(line("c", { name: "Write Line" }))).toBe("c");
  });
});

it("writes the id of an activity beside its title once", () => {
  expect(withId("Write Line", "check")).toBe("Write Line (check)");
  expect(withId("Write Line (check)", "check")).toBe("Write Line (check)");
  expect(withId("check", "check")).toBe("check");
});
