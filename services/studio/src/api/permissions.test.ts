import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { PERMISSIONS } from "./permissions";

interface Described {
  paths: Record<string, Record<string, { "x-permissions"?: string[] }>>;
}

it("has the permissions of all routes that the server describes", async () => {
  const text = await readFile(new URL("../../../../schema/api/openapi.json", import.meta.url), "utf8");
  const { paths } = JSON.parse(text) as Described;
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const named = new Set(operations.flatMap((one) => one["x-permissions"] ?? []));
  expect(PERMISSIONS).toEqual([...named].sort());
});
