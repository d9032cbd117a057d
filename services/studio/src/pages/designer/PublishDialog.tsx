import { useQuery } from "@tanstack/react-query";
import { useEffect, useId } from "react";
import { Problem } from "../../api/problem";
import { Index } from "../../model/activities";
import { changesBetween } from "../../model/diff";
import { isSame, type Json, membersOf, textOf } from "../../model/json";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Failed, Loading } from "../../ui/States";
import { openDefinition } from "./api";
import { ProblemList } from "./drawer/Problems";
import { essence, toPublish } from "./publishing";
import { useStudio, useView } from "./store";
import { w } from "./words";

/** The changes that are shown at most. */
const CHANGES_MAX = 12;

/** The published version; nothing if there is none. */
async function publishedOf(definition: string, signal: AbortSignal) {
  try {
    return (await openDefinition(definition, "Published", signal)).doc;
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}

/** What is otherwise than in the version that is published. */
function Changes() {
  const studio = useStudio();
  const doc = useView((state) => state.history.doc);
  const saved = useView((state) => state.saved);
  const isSaved = saved !== undefined;
  // Here it is as its author wrote it.
  const own = membersOf(saved)?.isPublished === true ? saved : undefined;
  const definition = useView((state) => textOf(membersOf(state.history.doc)?.definitionId));
  const published = useQuery({
    queryKey: ["definition", definition, "to-publish"],
    queryFn: ({ signal }) => publishedOf(definition, signal),
    enabled: isSaved && own === undefined,
    staleTime: 0,
  });
  if (published.error) return <Failed error={published.error} />;
  const before = own ?? published.data;
  if (isSaved && before === undefined) return <Loading rows={2} />;
  if (!before) return <p>{w.publishNone}</p>;
  const indexOf = (json: Json) => new Index(essence(json), studio.types);
  const changes = changesBetween(indexOf(before), indexOf(doc));
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

/** Asks before a key publishes: which version, what is new in it, and what is wrong with it. */
export function PublishDialog({ onPublish, onClose }: { onPublish: () => void; onClose: () => void }) {
  const button = useId();
  const saved = useView((state) => state.saved);
  const doc = useView((state) => state.history.doc);
  const isDirty = saved === undefined || !isSame(saved, doc);
  const local = useView((state) => state.problems);
  const found = useView((state) => state.found);
  const problems = [...found, ...local];
  const { what, version } = toPublish(saved, isDirty);
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
          <p>{w.publishWhat[what](version)}</p>
          <Changes />
          {problems.length === 0 ? (
            <p>{w.noProblems}</p>
          ) : (
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
