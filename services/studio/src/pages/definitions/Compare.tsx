import { useQuery } from "@tanstack/react-query";
import { definitionQuery } from "../../api/queries";
import type { Api } from "../../api/types";
import { activitiesIn, nameOf } from "../../graph/activities";
import { compare } from "../../graph/compare";
import { type TypeWords, useTypeWords } from "../../graph/words";
import { diffLines, nearChanges } from "../../lib/diff";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { pretty } from "../../ui/Code";
import { Badge } from "../../ui/State";
import { Shown } from "../../ui/States";

const TONES = {
  both: "text-soft",
  before: "bg-faulted/15 text-ink",
  after: "bg-finished/15 text-ink",
};
const SIGNS = { both: " ", before: "−", after: "+" };

/** What the text is compared by: the definition without what each saving changes. */
function textOf(definition: Api["FullDefinition"]): string {
  const { name, description, inputs, outputs, outcomes, variables, options, root } = definition;
  return pretty({ name, description, inputs, outputs, outcomes, variables, options, root });
}

interface Named {
  id: string;
  name: string;
}

/** The activities of a version by their ids, each with the name that the graph shows. */
function namedIn(root: unknown, ids: string[], words: TypeWords): Named[] {
  const all = activitiesIn(root);
  return ids.map((id) => ({ id, name: nameOf(all.get(id) ?? { id }, words) }));
}

function Group({ word, tone, of }: { word: string; tone: "good" | "warn" | "bad"; of: Named[] }) {
  if (of.length === 0) return null;
  return (
    <div className="flex items-start gap-2 text-sm">
      <Badge tone={tone}>{word}</Badge>
      <ul className="flex min-w-0 flex-wrap gap-x-4">
        {of.map(({ id, name }) => (
          <li key={id}>
            {name} {name !== id && <code className="font-mono text-xs text-soft">{id}</code>}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Text({ before, after }: { before: string; after: string }) {
  const rows = nearChanges(diffLines(before, after)).map((line, number) => ({ line, number }));
  return (
    <section
      aria-label={t.definitions.textChanges}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a text that scrolls must be reached by keyboard
      tabIndex={0}
      className="overflow-auto rounded-md border border-line bg-sunken py-2"
    >
      <pre className="w-max min-w-full font-mono text-xs leading-5">
        {rows.map(({ line, number }) => (
          <div key={number} className={`px-3 ${line ? TONES[line.side] : "text-soft"}`}>
            {line ? `${SIGNS[line.side]} ${line.text}` : "⋯"}
          </div>
        ))}
      </pre>
    </section>
  );
}

interface Props {
  current: Api["FullDefinition"];
  other: string;
  onClose: () => void;
}

/** What changed from another version to the one that is shown. */
export function Compare({ current, other, onClose }: Props) {
  const query = useQuery(definitionQuery(current.definitionId, other));
  const words = useTypeWords();
  return (
    <section
      className="space-y-3 border-t border-line p-4"
      aria-label={t.definitions.compared(other, current.version)}
    >
      <h2 className="flex items-center gap-2 font-medium">
        <span className="flex-1">{t.definitions.compared(other, current.version)}</span>
        <Button tone="quiet" icon="close" label={t.close} onClick={onClose} />
      </h2>
      <Shown query={query} rows={4}>
        {(before) => {
          const { added, changed, removed } = compare(before.root, current.root);
          const [old, now] = [textOf(before), textOf(current)];
          if (old === now) return <p className="text-sm text-soft">{t.definitions.same}</p>;
          return (
            <>
              <Group word={t.definitions.added} tone="good" of={namedIn(current.root, added, words)} />
              <Group word={t.definitions.changed} tone="warn" of={namedIn(current.root, changed, words)} />
              <Group word={t.definitions.removed} tone="bad" of={namedIn(before.root, removed, words)} />
              <Text before={old} after={now} />
            </>
          );
        }}
      </Shown>
    </section>
  );
}
