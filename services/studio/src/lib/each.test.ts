import { expect, it } from "vitest";
import { doEach } from "./each";

it("does what it can, and says what is left and why", async () => {
  const asked: string[] = [];
  const work = async (id: string) => {
    asked.push(id);
    if (id === "2" || id === "3") throw new Error(`not ${id}`);
  };
  expect(await doEach(["1", "2", "3", "4"], work)).toEqual({
    done: ["1", "4"],
    left: ["2", "3"],
    error: new Error("not 2"),
  });
  expect(asked).toEqual(["1", "2", "3", "4"]);
  expect(await doEach(["1"], work)).toEqual({ done: ["1"], left: [] });
});
