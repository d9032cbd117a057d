import { useQuery } from "@tanstack/react-query";
import { useEffect, useId } from "react";
import { type Json, membersOf, textOf } from "../../model/json";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Failed, Loading } from "../../ui/States";
import { isChanged } from "./changed";
import { Checked, ProblemList } from "./drawer/Problems";
import { changesSince, type Stored, storedOf, toPublish } from "./publishing";
import { useStudio, useView } from "./store";
import { w } from "./words";

/** The changes that are shown at most. */
const CHANGES_MAX = 12;

/** What the server has; nothing of a workflow that is not saved yet, or before it has answered. */
function useStored() {
  const saved = useView((state) => state.saved);
  const isOlder = useView((state) => state.newer !== undefined);
  const definition = useView((state) => textOf(membersOf(state.history.doc)?.definitionId));
  // Here it is as its author wrote it.
  const own = membersOf(saved)?.isPublished === true ? saved : undefined;
  const isKnown = own !== undefined && !isOlder;
  const asked = useQuery({
    queryKey: ["definition", definition, "to-publish"],
    queryFn: ({ signal }) => storedOf(definition, signal),
    enabled: saved !== undefined && !isKnown,
    staleTime: 0,
    gcTime: 0,
  });
  const stored: Stored | undefined = isKnown ? { latest: own, published: own } : asked.data;
  return { stored, error: asked.error, isAwaited: saved !== undefined && stored === undefined };
}

/** What is otherwise than in the version that is published. */
function Changes({ before }: { before: Json | undefined }) {
  const studio = useStudio();
  const doc = useView((state) => state.history.doc);
  if (before === undefined) return <p>{w.publishNone}</p>;
  const changes = changesSince(before, doc, studio.types);
  if (changes.length === 0) return <p>{w.publishSame}</p>;
  return (
    <section aria-label={w.publishChanges(changes.length)}>
      <h3 className="font-medium">{w.publishChanges(changes.length)}</h3>
      <ul className="mt-1 list-disc pl-5">
        {changes.slice(0, CHANGES_MAX).map(({ did, what, name }) => (
          <li key={`${what} ${name} ${did}`}>
            {what === "lines" ? w.linesIn(name) : name}: {w.changes[did]}
          </li>
        ))}
      </ul>
      {changes.length > CHANGES_MAX && (
        <p className="text-soft">{w.publishMore(changes.length - CHANGES_MAX)}</p>
      )}
    </section>
  );
}

/** Asks before it is published: which version, what is new in it, and what is wrong with it. */
export function PublishDialog({ onPublish, onClose }: { onPublish: () => void; onClose: () => void }) {
  const button = useId();
  const isOlder = useView((state) => state.newer !== undefined);
  const isDirty = useView(isChanged);
  const local = useView((state) => state.problems);
  const found = useView((state) => state.found);
  const problems = [...found, ...local];
  const { stored, error, isAwaited } = useStored();
  const { what, version } = toPublish(stored?.latest, isDirty || isOlder);
  // Enter publishes: the dialog itself gives the focus to its first button.
  useEffect(() => document.getElementById(button)?.focus(), [button]);
  return (
    <Dialog title={w.publishAsk} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
          onPublish();
        }}
      >
        <div className="max-h-96 space-y-3 overflow-auto text-sm">
          {error ? (
            <Failed error={error} />
          ) : isAwaited ? (
            <Loading rows={3} />
          ) : (
            <>
              <p>{w.publishWhat[what](version)}</p>
              <Changes before={stored?.published} />
            </>
          )}
          <p role="status">
            <Checked />
          </p>
          {problems.length > 0 && (
            <section aria-label={w.problems}>
              <h3 className="font-medium">{w.problems}</h3>
              <p className="text-soft">{w.publishProblems}</p>
              <ProblemList problems={problems} onGo={onClose} />
            </section>
          )}
        </div>
        <div className="mt-5 flex justify-end gap-2">
          <Button onClick={onClose}>{t.close}</Button>
          <Button id={button} type="submit" tone="main">
            {w.publish}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
