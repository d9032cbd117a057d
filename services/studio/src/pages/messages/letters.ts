import { id } from "../../api/client";
import type { Api } from "../../api/types";
import { readObject } from "../../lib/json";
import { changes, quoted, reads } from "../../lib/shell";
import type { Commands } from "../../ui/Code";

type Letter = Pick<Api["DeadLetter"], "id" | "subject" | "canReplay">;

/** Whether its command was to begin an instance: it was not applied, so there is none. */
export const wasToBegin = ({ subject }: Pick<Letter, "subject">): boolean =>
  subject?.startsWith("staunch.cmd.start.") ?? false;

/** Letters in the order in which they were given up: commands of one instance are published again in that order. */
export const oldestFirst = (letters: Iterable<string>): string[] =>
  [...letters].sort((one, other) => Number(one) - Number(other));

const pathOf = (letter: Pick<Letter, "id">) => `/bookmark-queue/dead-letters/${id(letter.id)}`;

function replayLines(letter: Letter, text: string | undefined) {
  if (!letter.canReplay) return undefined;
  const command = `staunch dead replay ${letter.id}`;
  if (text === undefined) return { staunch: command, ...changes("POST", `${pathOf(letter)}/replay`, {}) };
  const read = readObject(text);
  if (!read.ok || !read.value) return undefined;
  return {
    staunch: `${command} --body ${quoted(JSON.stringify(read.value))}`,
    ...changes("POST", `${pathOf(letter)}/replay`, { body: read.value }),
  };
}

/** What shows a letter and publishes its command again: with the body that is typed, if one is. */
export function linesOf(letter: Letter, text?: string): Commands {
  const replay = replayLines(letter, text);
  const shown = reads(pathOf(letter));
  return {
    staunch: [`staunch dead show ${letter.id}`, ...(replay ? [replay.staunch] : [])],
    nats: [`nats stream get STAUNCH_DEAD ${letter.id}`, ...(replay ? [replay.nats] : [])],
    curl: [shown.curl, ...(replay ? [replay.curl] : [])],
  };
}

/** What removes letters from the list. */
export const deleteLines = (letters: readonly string[]): Commands => {
  const each = letters.map((letter) => changes("DELETE", pathOf({ id: letter })));
  return {
    staunch: `staunch dead rm ${letters.join(" ")}`,
    nats: each.map(({ nats }) => nats),
    curl: each.map(({ curl }) => curl),
  };
};

/** What publishes the commands of letters again, the oldest first. */
export const replayAllLines = (chosen: readonly string[]): Commands => {
  const letters = oldestFirst(chosen);
  const each = letters.map((letter) => changes("POST", `${pathOf({ id: letter })}/replay`, {}));
  return {
    staunch: `staunch dead replay ${letters.join(" ")}`,
    nats: each.map(({ nats }) => nats),
    curl: each.map(({ curl }) => curl),
  };
};
