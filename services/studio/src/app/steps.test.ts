import { expect, it } from "vitest";
import { t } from "../text";
import { stepsOf } from "./steps";

const ID = "0123456789abcdef0123456789abcdef";
const words = (path: string, name?: string) => stepsOf(path, name).map(({ word }) => word);

it("names a definition in place of its id, as soon as its name is known", () => {
  expect(words(`/definitions/${ID}`)).toEqual(["0123…89abcdef"]);
  expect(words(`/definitions/${ID}/edit`, "Order approval")).toEqual(["Order approval", t.deeds.edit]);
  expect(stepsOf(`/definitions/${ID}`, "Order approval")[0]).toMatchObject({ id: ID });
});

it("names an instance before its id", () => {
  expect(words(`/instances/${ID}`, "Order approval")).toEqual(["Order approval", "0123…89abcdef"]);
  expect(words("/instances/order-7", "order-7")).toEqual(["order-7"]);
});

it("knows the words of addresses, and ids with any character", () => {
  expect(words("/definitions/new", "Order approval")).toEqual([t.deeds.make]);
  expect(words("/definitions/a%2Fb")).toEqual(["a/b"]);
  expect(words("/instances")).toEqual([]);
});
