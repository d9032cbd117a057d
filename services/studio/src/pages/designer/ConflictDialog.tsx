import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useSettings } from "../../app/settings";
import { formatTime } from "../../lib/format";
import { Index, nameOf } from "../../model/activities";
import { type Change, changesBetween, type Difference, placeWords, shownValue } from "../../model/diff";
import { type Json, membersOf, textOf, writeText } from "../../model/json";
import { SET_BY_SERVER } from "../../model/make";
import { type Clash, merge, PLACE, placeOf } from "../../model/merge";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { type Opened, whoSaved } from "./api";
import type { Saving } from "./saving";
import { useStudio } from "./store";
import { w } from "./words";

/** How long a list of values gets; the text itself has the rest. */
const VALUES_MAX = 20;

/** A value that one side has: nothing is there where it was removed, or never was. */
function Value({ of }: { of: Json | undefined }) {
  if (of === undefined) return <span className="text-soft">{w.clashGone}</span>;
  return <code className="font-mono text-xs break-all">{shownValue(of)}</code>;
}

/** What was there, and what is there now. */
function Values({ of }: { of: readonly Difference[] }) {
  return (
    <ul className="pl-4 text-xs">
      {of.slice(0, VALUES_MAX).map(({ path, before, after }) => (
        <li key={placeOf(path)} className="break-words">
          {path.length > 0 && <span className="text-soft">{placeWords(path).member} </span>}
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

function Changes({ title, changes }: { title: string; changes: readonly Change[] }) {
  return (
    <section className="min-w-0">
      <h3 className="text-sm font-medium">{title}</h3>
      <ul className="mt-1 max-h-48 space-y-0.5 overflow-auto text-sm">
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

/** One place that both changed: both values side by side, and the choice of the one to keep. */
function Choice({
  clash,
  index,
  isTheirs,
  onChoose,
}: {
  clash: Clash;
  index: Index;
  isTheirs: boolean;
  onChoose: (isTheirs: boolean) => void;
}) {
  const { id, member } = placeWords(clash.path);
  const entry = id === undefined ? undefined : index.get(id);
  const words = [
    entry && nameOf(entry.activity, index.type(entry)),
    id,
    member === PLACE ? w.clashPlace : member || w.clashWhole,
  ];
  const name = placeOf(clash.path);
  const sides = [
    [false, w.clashYours, clash.mine],
    [true, w.clashTheirs, clash.theirs],
  ] as const;
  return (
    <fieldset className="rounded-md border border-line px-3 pb-2">
      <legend className="px-1 text-xs font-medium break-words">
        {[...new Set(words)].filter(Boolean).join(" · ")}
      </legend>
      <div className="grid gap-2 sm:grid-cols-2">
        {sides.map(([side, word, value]) => (
          <label key={word} className="flex min-w-0 items-start gap-2 text-sm">
            <input
              type="radio"
              className="mt-0.5 size-4 shrink-0 accent-(--accent)"
              name={name}
              checked={isTheirs === side}
              onChange={() => onChoose(side)}
            />
            <span className="min-w-0">
              <span className="font-medium">{word}</span> <Value of={value} />
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** Two have saved: shows what each changed, and joins them where they touch different places. */
export function ConflictDialog({
  theirs,
  saving,
  onClose,
}: {
  theirs: Opened;
  saving: Saving;
  onClose: () => void;
}) {
  const studio = useStudio();
  const { time, language } = useSettings();
  const { history, saved, server } = studio.get();
  const latest = membersOf(theirs.doc) ?? {};
  const base = saved ?? theirs.doc;
  const [takesTheirs, setTakesTheirs] = useState<ReadonlySet<string>>(new Set());
  const work = useMemo(() => {
    const index = (doc: Json) => new Index(doc, studio.types);
    const joined = merge(base, history.doc, theirs.doc, takesTheirs);
    const clashes = joined.clashes.filter(
      (one) => one.path.length > 1 || !SET_BY_SERVER.includes(String(one.path[0])),
    );
    return {
      mine: changesBetween(index(base), index(history.doc)),
      theirs: changesBetween(index(server ?? base), index(theirs.doc)),
      joined: joined.doc,
      index: index(joined.doc),
      clashes,
    };
  }, [base, server, history.doc, theirs.doc, studio, takesTheirs]);
  const choose = (clash: Clash, isTheirs: boolean) => {
    const chosen = new Set(takesTheirs);
    if (isTheirs) chosen.add(placeOf(clash.path));
    else chosen.delete(placeOf(clash.path));
    setTakesTheirs(chosen);
  };
  const who = useQuery({
    queryKey: ["audit", "saved", textOf(latest.definitionId), theirs.etag],
    queryFn: () => whoSaved(textOf(latest.definitionId)),
  });
  const rebase = (doc: typeof theirs.doc) => {
    studio.do({ label: w.did.merge, patches: [{ do: "set", path: [], value: doc }] });
    studio.set({ saved: theirs.doc, server: theirs.doc, etag: theirs.etag, newer: undefined });
    onClose();
  };
  return (
    <Dialog title={w.conflict} wide onClose={onClose}>
      <p className="text-sm">
        {w.conflictText(Number(latest.version ?? 0))}{" "}
        {who.data && w.conflictBy(who.data.who, formatTime(who.data.at, time, Date.now(), language, true))}
      </p>
      <div className="mt-4 grid gap-4 sm:grid-cols-2">
        <Changes title={w.theirs} changes={work.theirs} />
        <Changes title={w.mine} changes={work.mine} />
      </div>
      <div className="mt-4 text-sm">
        {work.clashes.length === 0 ? (
          <p className="text-finished">{w.noClash}</p>
        ) : (
          <>
            <p className="text-waiting">{w.clashes}</p>
            <div className="mt-2 max-h-64 space-y-2 overflow-auto">
              {work.clashes.map((one) => (
                <Choice
                  key={placeOf(one.path)}
                  clash={one}
                  index={work.index}
                  isTheirs={takesTheirs.has(placeOf(one.path))}
                  onChoose={(isTheirs) => choose(one, isTheirs)}
                />
              ))}
            </div>
          </>
        )}
      </div>
      <div className="mt-5 flex flex-wrap justify-end gap-2">
        <Button
          tone="quiet"
          icon="copy"
          onClick={() => void navigator.clipboard.writeText(writeText(history.doc))}
        >
          {w.copyMine}
        </Button>
        <Button onClick={() => rebase(theirs.doc)}>{w.takeTheirs}</Button>
        <Button
          tone="danger"
          onClick={() => {
            onClose();
            void saving.save(theirs.etag);
          }}
        >
          {w.keepMine}
        </Button>
        <Button tone="main" onClick={() => rebase(work.joined)}>
          {w.join}
        </Button>
      </div>
    </Dialog>
  );
}
