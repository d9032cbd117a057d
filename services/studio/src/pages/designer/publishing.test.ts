import { expect, it } from "vitest";
import { essence, toPublish } from "./publishing";

it.each([
  [undefined, true, { what: "first", version: 0 }],
  [{ version: 3, isPublished: false }, false, { what: "draft", version: 3 }],
  [{ version: 3, isPublished: false }, true, { what: "draft", version: 3 }],
  [{ version: 3, isPublished: true }, true, { what: "changed", version: 3 }],
  [{ version: 3, isPublished: true }, false, { what: "again", version: 3 }],
])("says what is published: %j, changed: %s", (saved, isDirty, published) =>
  expect(toPublish(saved, isDirty)).toEqual(published),
);

it("compares what an author wrote with what the server writes", () => {
  const written = { name: "n", variables: [{ name: "a", value: 0 }], options: {} };
  const answered = {
    name: "n",
    variables: [{ name: "a", value: 0, storageDriverTypeName: null }],
    options: { usableAsActivity: null },
    outputs: [],
  };
  expect(essence(answered)).toEqual(essence(written));
  expect(essence({ ...written, name: "m" })).not.toEqual(essence(answered));
});
