import { type Change, type Difference, placeWords, shownValue } from "../../model/diff";
import type { Json } from "../../model/json";
import { PLACE, placeOf } from "../../model/merge";
import { w } from "./words";

/** How long a list of values gets; the text itself has the rest. */
const VALUES_MAX = 20;

/** A value that one side has: nothing is there where it was removed, or never was. */
export function Value({ of }: { of: Json | undefined }) {
  if (of === undefined) return <span className="text-soft">{w.clashGone}</span>;
  return <code className="font-mono text-xs break-all">{shownValue(of)}</code>;
}

/** What a member is called: the title and the place of an activity have words of their own. */
export function memberWord(member: string): string {
  if (member === PLACE) return w.clashPlace;
  return member === "metadata.displayText" ? w.displayText : member;
}

/** What was there, and what is there now. */
function Values({ of }: { of: readonly Difference[] }) {
  return (
    <ul className="pl-4 text-xs">
      {of.slice(0, VALUES_MAX).map(({ path, before, after }) => (
        <li key={placeOf(path)} className="break-words">
          {path.length > 0 && <span className="text-soft">{memberWord(placeWords(path).member)} </span>}
          {before !== undefined && (
            <>
              <span className="text-soft">{w.was}</span> <Value of={before} />{" "}
            </>
          )}
          <span className="text-soft">{w.isNow}</span> <Value of={after} />
        </li>
      ))}
      {of.length > VALUES_MAX && <li className="text-soft">{w.publishMore(of.length - VALUES_MAX)}</li>}
    </ul>
  );
}

/** What one text has and another has not. */
export function Changes({
  title,
  changes,
  isTop,
}: {
  title: string;
  changes: readonly Change[];
  /** Its heading stands below that of the page, not below that of a dialog; the list is as long as it gets. */
  isTop?: boolean;
}) {
  const Heading = isTop ? "h2" : "h3";
  return (
    <section className="min-w-0">
      <Heading className="text-sm font-medium">{title}</Heading>
      <ul className={`mt-1 space-y-0.5 text-sm ${isTop ? "" : "max-h-48 overflow-auto"}`}>
        {changes.map((one) => (
          <li key={`${one.did} ${one.what} ${one.id ?? one.name}`} className="break-words">
            <span
              className={
                one.did === "added"
                  ? "text-finished"
                  : one.did === "removed"
                    ? "text-faulted"
                    : "text-waiting"
              }
            >
              {w.changes[one.did]}
            </span>{" "}
            {one.what === "lines" ? w.linesIn(one.name) : one.name}
            {one.id && one.id !== one.name && (
              <code className="ml-1 font-mono text-xs text-soft">{one.id}</code>
            )}
            {one.values && <Values of={one.values} />}
          </li>
        ))}
        {changes.length === 0 && <li className="text-soft">{w.nothing}</li>}
      </ul>
    </section>
  );
}
