import { useQuery } from "@tanstack/react-query";
import { definitionQuery } from "../../api/queries";
import type { Api } from "../../api/types";
import { compare } from "../../graph/compare";
import { diffLines, nearChanges } from "../../lib/diff";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { pretty } from "../../ui/Code";
import { Badge } from "../../ui/State";
import { Shown } from "../../ui/States";

const TONES = {
  both: "text-soft",
  before: "bg-faulted/10 text-faulted",
  after: "bg-finished/10 text-finished",
};
const SIGNS = { both: " ", before: "−", after: "+" };

/** What the text is compared by: the definition without what each saving changes. */
function textOf(definition: Api["FullDefinition"]): string {
  const { name, description, inputs, outputs, outcomes, variables, options, root } = definition;
  return pretty({ name, description, inputs, outputs, outcomes, variables, options, root });
}

function Group({ word, tone, ids }: { word: string; tone: "good" | "warn" | "bad"; ids: string[] }) {
  if (ids.length === 0) return null;
  return (
    <p className="flex flex-wrap items-center gap-2 text-sm">
      <Badge tone={tone}>{word}</Badge>
      {ids.join(", ")}
    </p>
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
  return (
    <section
      className="space-y-3 border-t border-line p-4"
      aria-label={t.definitions.compared(other, current.version)}
    >
      <h3 className="flex items-center gap-2 font-medium">
        <span className="flex-1">{t.definitions.compared(other, current.version)}</span>
        <Button tone="quiet" icon="close" label={t.close} onClick={onClose} />
      </h3>
      <Shown query={query} rows={4}>
        {(before) => {
          const { added, changed, removed } = compare(before.root, current.root);
          const [old, now] = [textOf(before), textOf(current)];
          if (old === now) return <p className="text-sm text-soft">{t.definitions.same}</p>;
          return (
            <>
              <Group word={t.definitions.added} tone="good" ids={added} />
              <Group word={t.definitions.changed} tone="warn" ids={changed} />
              <Group word={t.definitions.removed} tone="bad" ids={removed} />
              <Text before={old} after={now} />
            </>
          );
        }}
      </Shown>
    </section>
  );
}
