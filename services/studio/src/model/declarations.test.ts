import { expect, test } from "vitest";
import { Index } from "./activities";
import { setDeclaration } from "./declarations";
import { edit, startHistory, undo } from "./history";
import type { Json } from "./json";
import { TYPES } from "./testing";

const kept = (id: string) => ({ typeName: "Object", memoryReference: { id } });

const docWith = (declared: Record<string, Json>, ...ids: string[]): Json => ({
  ...declared,
  root: {
    type: "Elsa.Sequence",
    id: "s",
    activities: ids.map((id, at) => ({ type: "Elsa.HttpRequest", id: `r${at}`, parsedContent: kept(id) })),
  },
});

function renamed(doc: Json, kind: "variables" | "outputs", ...names: string[]) {
  let history = startHistory(doc);
  for (const name of names)
    history = edit(history, setDeclaration(new Index(history.doc, TYPES), kind, 0, "name", name, "Rename"));
  const now = JSON.parse(JSON.stringify(history.doc));
  const bound = now.root.activities.map(
    (one: { parsedContent: { memoryReference: { id: string } } }) => one.parsedContent.memoryReference.id,
  );
  return { history, bound, declared: now[kind][0] };
}

test("outputs of activities follow a variable that is known by its name, through each letter", () => {
  const doc = docWith({ variables: [{ id: "Rate", name: "Rate" }] }, "Rate", "Other");
  const { history, bound, declared } = renamed(doc, "variables", "Rat", "Tariff");
  expect(declared.name).toBe("Tariff");
  expect(declared.id).not.toBe("Rate");
  expect(bound).toEqual([declared.id, "Other"]);
  expect(undo(history).doc).toEqual(doc);
});

test("outputs of activities follow a variable without an id", () => {
  const { bound } = renamed(docWith({ variables: [{ name: "Rate" }] }, "Rate"), "variables", "Tariff");
  expect(bound).toEqual(["Tariff"]);
});

test("a variable with an id of its own keeps it, and what is bound to it", () => {
  const doc = docWith({ variables: [{ id: "v1", name: "Rate" }] }, "v1", "Rate");
  const { bound, declared } = renamed(doc, "variables", "Tariff");
  expect(declared.id).toBe("v1");
  expect(bound).toEqual(["v1", "Rate"]);
});

test("outputs of activities follow an output of the workflow, unless a variable has its name", () => {
  const outputs = [{ name: "Rate", displayName: "Rate" }];
  expect(renamed(docWith({ outputs }, "Rate"), "outputs", "Tariff").bound).toEqual(["Tariff"]);
  const both = docWith({ outputs, variables: [{ id: "Rate", name: "Rate" }] }, "Rate");
  expect(renamed(both, "outputs", "Tariff").bound).toEqual(["Rate"]);
});
