import { expect, it } from "vitest";
import { w } from "../words";
import { faultIn } from "./whole";

it.each(['{"root": 5}', '{"root": []}', '{"root": "x"}', "[]", "5", '{"root": '])(
  "is no definition: %s",
  (text) => expect(faultIn(text)).toMatchObject({ message: expect.stringMatching(/./) }),
);

it.each(["{}", '{"root": null}', '{"root": {"type": "Elsa.WriteLine"}}'])("is one: %s", (text) =>
  expect(faultIn(text)).toBeUndefined(),
);

it("a sentence about a text ends once", () => {
  expect(w.textBad(1, 2, "did you mean name?")).toContain("did you mean name? ");
  expect(w.textBad(1, 2, "a definition is an object")).toContain("an object. ");
});
