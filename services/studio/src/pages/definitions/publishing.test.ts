import { expect, it } from "vitest";
import type { Api } from "../../api/types";
import { publishAll } from "./publishing";

/** A server that publishes one by one: each that uses none which is not published. */
function serverOf(uses: Record<string, string[]>) {
  const live = new Set<string>(["old"]);
  const asked: string[][] = [];
  const send = async (ids: string[]): Promise<Api["Publications"]> => {
    asked.push(ids);
    const all = { published: [], alreadyPublished: [], notFound: [], failed: [], problems: {} };
    const answer: Api["Publications"] = { ...all, skipped: [], updatedConsumers: [], warnings: {} };
    for (const id of ids) {
      const missing = uses[id]?.filter((one) => !live.has(one));
      if (live.has(id)) answer.alreadyPublished.push(id);
      else if (!missing) answer.notFound.push(id);
      else if (missing.length > 0) {
        answer.failed.push(id);
        answer.problems[id] = missing.map((one) => `${one} was never published.`);
      } else {
        live.add(id);
        answer.published.push(id);
      }
    }
    return answer;
  };
  return { asked, send };
}

it("publishes those that are used before those that use them, in any order", async () => {
  const { asked, send } = serverOf({ all: ["sum"], sum: ["plus"], plus: [] });
  expect(await publishAll(["all", "sum", "plus", "old"], send)).toEqual({
    done: ["plus", "old", "sum", "all"],
    left: [],
  });
  expect(asked).toEqual([["all", "sum", "plus", "old"], ["all", "sum"], ["all"]]);
});

it("tells what is published also where the server answers no more", async () => {
  const { send } = serverOf({ all: ["sum"], sum: [] });
  let sent = 0;
  const broken = (ids: string[]) => (sent++ === 0 ? send(ids) : Promise.reject(new Error("cut off")));
  expect(await publishAll(["all", "sum"], broken)).toEqual({
    done: ["sum"],
    left: [["all", ["sum was never published."]]],
  });
  await expect(publishAll(["all"], broken)).rejects.toThrow("cut off");
});

it("says what was published, and of each of the others why it was not", async () => {
  const { asked, send } = serverOf({ bad: ["missing", "lost"], good: [] });
  expect(await publishAll(["bad", "good", "gone"], send)).toEqual({
    done: ["good"],
    left: [
      ["bad", ["missing was never published.", "lost was never published."]],
      ["gone", []],
    ],
  });
  // Nothing came of the second time: there is no third one.
  expect(asked).toEqual([["bad", "good", "gone"], ["bad"]]);
});
