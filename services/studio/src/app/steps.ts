import { shortId } from "../lib/format";
import { visible } from "../lib/visible";
import { t } from "../text";

/** A step on the way to a page, after the name of its list. */
export interface Step {
  word: string;
  /** What the address has in its place, where that is another text. */
  id?: string;
  /** It is an id, not a name. */
  isId?: boolean;
  /** What comes after it says enough where there is little room. */
  isExtra?: boolean;
}

const WORDS: Record<string, string> = { edit: t.deeds.edit, new: t.deeds.make };

/** The steps after the name of the list, with the name of what the first of them is the id of, where it is known. */
export function stepsOf(path: string, name: string | undefined): Step[] {
  const [list, ...rest] = path.split("/").filter(Boolean).map(decodeURIComponent);
  const shown = name && visible(name);
  const steps = rest.map((part): Step => {
    const word = WORDS[part];
    return word ? { word } : { word: shortId(part), id: part, isId: true };
  });
  if (!shown || steps[0]?.id === undefined || steps[0].id === name) return steps;
  // Many instances have one name: their ids stay.
  if (list === "instances") return [{ word: shown, isExtra: true }, ...steps];
  return [{ word: shown, id: steps[0].id }, ...steps.slice(1)];
}
