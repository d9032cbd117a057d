import { expect, it } from "vitest";
import { de } from "../../text/de";
import { eventWord } from "./Story";

it.each([
  ["Started", "Begonnen"],
  ["Suspended", "Wartet"],
  ["Finished", "Fertig"],
  ["SomethingNew", "SomethingNew"],
])("a line %s of the story is called %s in German", (name, word) =>
  expect(eventWord(name, de.instance.events)).toBe(word),
);
