const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/;
/** An id stands after the word `activity`; one of the designer is known wherever it stands. */
const ACTIVITY = /(?<=\bactivity )[\w-]+|\b[0-9a-f]{12,}\b/;
const STATE = /\bis (?:Pending|Executing|Suspended|Finished|Cancelled|Faulted)\b/;

/** The states of the server in the words of the pages. */
const STATES: Record<string, string> = {
  "is Pending": "is pending",
  "is Executing": "runs",
  "is Suspended": "waits",
  "is Finished": "is finished",
  "is Cancelled": "is cancelled",
  "is Faulted": "is faulted",
};

const escaped = (text: string) => text.replace(/[^\w]/g, "\\$&");

/** Where something else stands than the text says; ids of instances go before all that looks like them. */
function partOf(instances: readonly string[]): RegExp {
  const ids = instances.map((id) => `(?<![\\w-])${escaped(id)}(?![\\w-])`);
  return new RegExp([...ids, TIME.source, STATE.source, ACTIVITY.source].join("|"), "g");
}

export interface Part {
  key: number;
  words: string;
  /** The time that stands here. */
  time?: string;
  /** The id of the activity whose name stands here. */
  activity?: string;
  /** The id of the instance that stands here. */
  instance?: string;
}

/**
 * The parts of a sentence of the server, with these instances told from other ids. What stands in quotes is somebody's
 * text, and stays as it is.
 */
export function partsOf(
  text: string,
  nameOf: (activity: string, otherwise: string) => string,
  instances: readonly string[] = [],
): Part[] {
  const parts: Part[] = [];
  let done = 0;
  const add = (part: Omit<Part, "key">) => part.words && parts.push({ key: parts.length, ...part });
  const partAt = (found: string): Omit<Part, "key"> | undefined => {
    if (instances.includes(found)) return { words: found, instance: found };
    if (TIME.test(found)) return { words: found, time: found };
    const state = STATES[found];
    if (state) return { words: state };
    const name = nameOf(found, found);
    return name === found ? undefined : { words: name, activity: found };
  };
  for (const { 0: found, index } of text.matchAll(partOf(instances))) {
    const isQuoted = (text.slice(0, index).match(/"/g)?.length ?? 0) % 2 === 1;
    const part = isQuoted ? undefined : partAt(found);
    if (!part) continue;
    add({ words: text.slice(done, index) });
    add(part);
    done = index + found.length;
  }
  add({ words: text.slice(done) });
  return parts;
}
