import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { personNamed } from "../../api/ways";
import { useSettings } from "../../app/settings";
import { formatTime } from "../../lib/format";
import { Index, nameOf } from "../../model/activities";
import { changesBetween, placeWords } from "../../model/diff";
import { type Json, membersOf, textOf, writeText } from "../../model/json";
import { SET_BY_SERVER } from "../../model/make";
import { type Clash, merge, placeOf } from "../../model/merge";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { notify } from "../../ui/notices";
import { type Opened, whoSaved } from "./api";
import { Changes, memberWord, Value } from "./Changes";
import { ABOUT, type Saving } from "./saving";
import { useStudio } from "./store";
import { w } from "./words";

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
  const words = [entry && nameOf(entry.activity, index.type(entry)), id, memberWord(member) || w.clashWhole];
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
  const newest = Number(latest.version ?? 0);
  const mine = Number(membersOf(base)?.version ?? 0);
  const rebase = (doc: typeof theirs.doc) => {
    studio.do({ label: w.did.merge, patches: [{ do: "set", path: [], value: doc }] });
    studio.set({ saved: theirs.doc, server: theirs.doc, etag: theirs.etag, newer: undefined });
    onClose();
  };
  return (
    <Dialog title={w.conflict} wide onClose={onClose}>
      <p className="text-sm">
        {w.conflictText(newest, newest === mine)}{" "}
        {who.data &&
          w.conflictBy(
            personNamed(who.data.who) ?? w.somebody,
            formatTime(who.data.at, time, Date.now(), language, true),
          )}
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
        <Button
          tone="main"
          onClick={() => {
            rebase(work.joined);
            notify(w.joined, ABOUT);
          }}
        >
          {w.join}
        </Button>
      </div>
    </Dialog>
  );
}
