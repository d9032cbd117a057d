import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useSettings } from "../../app/settings";
import { formatTime } from "../../lib/format";
import { Index } from "../../model/activities";
import { type Change, changesBetween } from "../../model/diff";
import { type Json, membersOf, textOf, writeText } from "../../model/json";
import { merge } from "../../model/merge";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { type Opened, whoSaved } from "./api";
import type { Saving } from "./saving";
import { useStudio } from "./store";
import { w } from "./words";

function Changes({ title, changes }: { title: string; changes: readonly Change[] }) {
  return (
    <section className="min-w-0">
      <h3 className="text-sm font-medium">{title}</h3>
      <ul className="mt-1 max-h-48 space-y-0.5 overflow-auto text-sm">
        {changes.map((one) => (
          <li key={`${one.did} ${one.what} ${one.name}`} className="break-words">
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
          </li>
        ))}
        {changes.length === 0 && <li className="text-soft">{w.nothing}</li>}
      </ul>
    </section>
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
  const work = useMemo(() => {
    const index = (doc: Json) => new Index(doc, studio.types);
    const joined = merge(base, history.doc, theirs.doc);
    const clashes = joined.clashes.filter(
      (one) =>
        one.path.length > 1 || !["id", "version", "createdAt", "publishedAt"].includes(String(one.path[0])),
    );
    return {
      mine: changesBetween(index(base), index(history.doc)),
      theirs: changesBetween(index(server ?? base), index(theirs.doc)),
      joined: joined.doc,
      clashes,
    };
  }, [base, server, history.doc, theirs.doc, studio]);
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
            <ul className="mt-1 max-h-32 overflow-auto font-mono text-xs">
              {work.clashes.map((one) => (
                <li key={one.path.join("/")}>{one.path.join(" / ")}</li>
              ))}
            </ul>
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
