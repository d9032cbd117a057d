const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/;
/** An id stands after the word `activity`; one of the designer is known wherever it stands. */
const ACTIVITY = /(?<=\bactivity )[\w-]+|\b[0-9a-f]{12,}\b/;
const PART = new RegExp(`${TIME.source}|${ACTIVITY.source}`, "g");

export interface Part {
  key: number;
  words: string;
  /** The time that stands here. */
  time?: string;
  /** The id of the activity whose name stands here. */
  activity?: string;
}

/** The parts of a sentence of the server. What stands in quotes is somebody's text, and stays as it is. */
export function partsOf(text: string, nameOf: (activity: string, otherwise: string) => string): Part[] {
  const parts: Part[] = [];
  let done = 0;
  const add = (part: Omit<Part, "key">) => part.words && parts.push({ key: parts.length, ...part });
  for (const { 0: found, index } of text.matchAll(PART)) {
    const isQuoted = (text.slice(0, index).match(/"/g)?.length ?? 0) % 2 === 1;
    const time = TIME.test(found);
    const name = time ? found : nameOf(found, found);
    if (isQuoted || (!time && name === found)) continue;
    add({ words: text.slice(done, index) });
    add(time ? { words: found, time: found } : { words: name, activity: found });
    done = index + found.length;
  }
  add({ words: text.slice(done) });
  return parts;
}
