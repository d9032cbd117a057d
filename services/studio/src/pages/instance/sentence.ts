const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/;
/** What the server says of a time after it: how long ago it was, or how long it takes until then. */
const SPAN = /(?<span>(?: \(|, )(?<left>another )?)\d+ (?:s|min|h|days)/;
const TIMED = new RegExp(`${TIME.source}(?:${SPAN.source}(?=\\)| ago\\b))?`);
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
  return new RegExp([...ids, TIMED.source, STATE.source, ACTIVITY.source].join("|"), "g");
}

export interface Part {
  key: number;
  words: string;
  /** The time that stands here. */
  time?: string;
  /** The time from which it is counted how long ago it was; it goes on while one reads. */
  ago?: string;
  /** The time to which it is counted how long it takes. */
  left?: string;
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
  const partsAt = (found: string): Omit<Part, "key">[] => {
    if (instances.includes(found)) return [{ words: found, instance: found }];
    const [time] = TIME.exec(found) ?? [];
    if (time !== undefined) {
      const { span, left } = SPAN.exec(found)?.groups ?? {};
      const at = { words: time, time };
      if (span === undefined) return [at];
      const words = found.slice(time.length + span.length);
      return [at, { words: span }, left ? { words, left: time } : { words, ago: time }];
    }
    const state = STATES[found];
    if (state) return [{ words: state }];
    const name = nameOf(found, found);
    return name === found ? [] : [{ words: name, activity: found }];
  };
  for (const { 0: found, index } of text.matchAll(partOf(instances))) {
    const isQuoted = (text.slice(0, index).match(/"/g)?.length ?? 0) % 2 === 1;
    const inside = isQuoted ? [] : partsAt(found);
    if (inside.length === 0) continue;
    add({ words: text.slice(done, index) });
    for (const part of inside) add(part);
    done = index + found.length;
  }
  add({ words: text.slice(done) });
  return parts;
}

/** The activity that each finding names first; none where all are about the same one, or about none. */
export function placesOf(
  says: readonly string[],
  nameOf: (activity: string, otherwise: string) => string,
): (string | undefined)[] {
  const ids = says.map((one) => /\bactivity ([\w-]+)/.exec(one.replace(/"[^"]*"/g, '""'))?.[1]);
  const isOne = new Set(ids).size < 2;
  return ids.map((id) => (isOne || id === undefined ? undefined : nameOf(id, id)));
}
