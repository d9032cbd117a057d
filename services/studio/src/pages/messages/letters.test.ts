import { expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null });
const { deleteLines, linesOf, oldestFirst, replayAllLines, wasToBegin } = await import("./letters");
const { t } = await import("../../text");

const letter = { id: "7", subject: "staunch.cmd.start.order", canReplay: true };

it("a letter whose command was to begin an instance has none", () => {
  expect(wasToBegin(letter)).toBe(true);
  for (const subject of ["staunch.cmd.resume.i-1", "staunch.cmd.alter.i-1", null])
    expect(wasToBegin({ subject })).toBe(false);
});

it("a letter is shown and replayed with each tool", () => {
  const { staunch, nats, curl } = linesOf(letter);
  expect(staunch).toEqual(["staunch dead show 7", "staunch dead replay 7"]);
  expect(nats).toContain("nats req staunch.api.http.post.bookmark-queue.dead-letters.7.replay '{}'");
  expect(curl).toContainEqual(expect.stringContaining("-d '{}'"));
});

it("a body that was edited is sent by every line", () => {
  const { staunch, nats, curl } = linesOf(letter, '{\n "input": {"Qty": 5}\n}');
  const body = '{"input":{"Qty":5}}';
  expect(staunch).toContain(`staunch dead replay 7 --body '${body}'`);
  expect(nats).toContainEqual(expect.stringContaining(`.replay '{"body":${body}}'`));
  expect(curl).toContainEqual(expect.stringContaining(`-d '{"body":${body}}'`));
});

it("no line replays what cannot be: a body that is no object, or a letter that is no command", () => {
  for (const lines of [linesOf(letter, "{"), linesOf(letter, "5"), linesOf({ ...letter, canReplay: false })])
    expect(lines.staunch).toEqual(["staunch dead show 7"]);
});

it("several letters are one line of staunch, and one each elsewhere", () => {
  expect(deleteLines(["7", "9"]).staunch).toBe("staunch dead rm 7 9");
  expect(deleteLines(["7", "9"]).curl).toHaveLength(2);
  expect(replayAllLines(["7", "9"]).staunch).toBe("staunch dead replay 7 9");
});

it("several letters are replayed from the oldest one on, in whatever order they were chosen", () => {
  expect(oldestFirst(new Set(["10", "9", "8", "100"]))).toEqual(["8", "9", "10", "100"]);
  const { staunch, curl } = replayAllLines(["10", "9", "8"]);
  expect(staunch).toBe("staunch dead replay 8 9 10");
  expect((curl as string[]).map((line) => /dead-letters\/(\d+)/.exec(line)?.[1])).toEqual(["8", "9", "10"]);
});

it("says how many were published again", () => {
  expect(t.messages.replayedCount(7)).toBe("7 published again.");
});
