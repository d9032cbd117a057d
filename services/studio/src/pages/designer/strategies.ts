import { w } from "./words";

/** What a strategy of the server is called in the reader's language; `name` is what the server calls it. */
export function strategyWord(
  typeName: string,
  name: string,
  words: Record<string, string> = w.strategies,
): string {
  const short = /(\w+)Strategy\b/.exec(typeName)?.[1] ?? typeName;
  return words[short] ?? name;
}
