import { expect, it } from "vitest";
import { serverRoot, studioPath } from "./base";

it.each([
  ["http://localhost:5001/studio/", "/studio", ""],
  ["https://example.org/staunch/studio/", "/staunch/studio", "/staunch"],
])("finds the paths of %s", (baseUri, studio, root) => {
  expect(studioPath(baseUri)).toBe(studio);
  expect(serverRoot(baseUri)).toBe(root);
});
