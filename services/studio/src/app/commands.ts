import { useEffect } from "react";

/** What can be done with what a page shows. */
export interface Command {
  word: string;
  act: () => void;
}

let here: readonly Command[] = [];

/** What the page that is open offers to the palette. */
export const commandsHere = (): readonly Command[] => here;

/** Offers these in place of what was offered before, until they are taken back. */
export function offer(commands: readonly Command[]): () => void {
  here = commands;
  return () => {
    if (here === commands) here = [];
  };
}

/** Offers what a page can do to the palette, as long as it is open. */
export function useCommands(commands: readonly Command[]): void {
  useEffect(() => offer(commands));
}
