import { useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import { asProblem } from "../../../api/problem";
import { type Json, readText, writeText } from "../../../model/json";
import { t } from "../../../text";
import { Button } from "../../../ui/Button";
import { Failed, Loading } from "../../../ui/States";
import Editor from "../code/Editor";
import { type ShortText, type Shown, shortTextOf } from "../code/short";
import { faultIn } from "../code/whole";
import { useStudio, useView } from "../store";
import { w } from "../words";

/** The line above the text: how it stands with the graph, and which form it has. */
function Head({ short, isWrong, children }: { short: ShortText; isWrong: boolean; children: string }) {
  const studio = useStudio();
  const { isOpen } = useSyncExternalStore(short.subscribe, short.get);
  const isBroken = useView((state) => state.broken !== undefined);
  const isUnread = useView((state) => state.isUnread);
  const forms = [
    { word: "JSON", isYaml: false, isAhead: isBroken },
    { word: "YAML", isYaml: true, isAhead: isUnread },
  ];
  return (
    <div className="flex items-center gap-2 px-3 py-1 text-xs">
      <p role="status" className={`min-w-0 flex-1 ${isWrong ? "text-faulted" : "text-soft"}`}>
        {children}
      </p>
      {isWrong && (isOpen ? isUnread : isBroken) && (
        <Button
          tone="quiet"
          className="!h-6"
          onClick={() => (isOpen ? short.drop() : studio.set({ broken: undefined }))}
        >
          {w.textDrop}
        </Button>
      )}
      <fieldset aria-label={w.notation} className="flex shrink-0 rounded-md border border-line">
        {forms.map(({ word, isYaml, isAhead }) => (
          <button
            key={word}
            type="button"
            aria-pressed={isOpen === isYaml}
            onClick={() => short.open(isYaml)}
            className={`h-6 rounded-md px-2 ${isOpen === isYaml ? "bg-accent-soft font-medium text-ink" : "text-soft hover:text-ink"}`}
          >
            {word}
            {isAhead && isOpen !== isYaml && (
              <span
                role="img"
                aria-label={w.textAhead}
                title={w.textAhead}
                className="ml-1 inline-block size-1.5 rounded-full bg-waiting"
              />
            )}
          </button>
        ))}
      </fieldset>
    </div>
  );
}

/** The definition as JSON. What parses is the graph at once; what does not leaves the graph as it was. */
function JsonText({ short }: { short: ShortText }) {
  const studio = useStudio();
  const doc = useView((state) => state.history.doc);
  const typed = useRef<{ text: string; doc: Json }>(undefined);
  const broken = useView((state) => state.broken);
  const fault = useMemo(() => (broken === undefined ? undefined : faultIn(broken)), [broken]);
  const text = broken ?? (typed.current?.doc === doc ? typed.current.text : writeText(doc));
  const change = (next: string) => {
    if (faultIn(next)) {
      studio.set({ broken: next });
      return;
    }
    studio.set({ broken: undefined });
    studio.do({
      label: w.did.text,
      patches: [{ do: "set", path: [], value: readText(next) }],
      merge: "text",
    });
    typed.current = { text: next, doc: studio.get().history.doc };
  };
  return (
    <>
      <Head short={short} isWrong={fault !== undefined}>
        {fault ? w.textBad(fault.line, fault.column, fault.message) : w.textGood}
      </Head>
      <div className="min-h-0 flex-1">
        <Editor
          isBig
          label={w.textLabel}
          language="json"
          value={text}
          fault={fault}
          onChange={change}
          onLeave={() => studio.seal()}
        />
      </div>
    </>
  );
}

function wordsOf({ is, flaws, error }: Shown): string {
  const [first] = flaws;
  if (is === "wrong" && first) {
    const more = new Set(flaws.map((one) => one.line)).size - 1;
    return w.textBad(first.line, first.column, first.message) + (more > 0 ? w.shortMore(more) : "");
  }
  if (is === "failed") return w.shortFailed(asProblem(error).detail);
  if (is === "same") return w.textGood;
  return is === "writing" ? w.shortWriting : w.shortReading;
}

/** The definition in the short form. What the server can read is the graph a moment later. */
function YamlText({ short }: { short: ShortText }) {
  const studio = useStudio();
  const shown = useSyncExternalStore(short.subscribe, short.get);
  const { is, text, flaws, error } = shown;
  // What was typed last is in the graph, also where one goes to another tab.
  useEffect(() => () => void short.settle(), [short]);
  return (
    <>
      <Head short={short} isWrong={is === "wrong" || is === "failed"}>
        {wordsOf(shown)}
      </Head>
      <div className="min-h-0 flex-1">
        {text === undefined && is === "failed" && <Failed error={error} retry={() => short.retry()} />}
        {text === undefined && is !== "failed" && <Loading rows={8} />}
        {text !== undefined && (
          <Editor
            isBig
            label={w.shortLabel}
            language="yaml"
            value={text}
            faults={flaws}
            onChange={(next) => short.change(next)}
            onLeave={() => {
              void short.settle().then(() => studio.seal());
            }}
          />
        )}
      </div>
      {text !== undefined && is === "failed" && (
        <div className="border-t border-line p-2">
          <Button icon="refresh" onClick={() => short.retry()}>
            {t.tryAgain}
          </Button>
        </div>
      )}
    </>
  );
}

/** The definition as text: as Elsa writes it, or in the short form. */
export default function TextTab() {
  const short = shortTextOf(useStudio());
  const { isOpen } = useSyncExternalStore(short.subscribe, short.get);
  return (
    <div className="flex h-full flex-col">
      {isOpen ? <YamlText short={short} /> : <JsonText short={short} />}
    </div>
  );
}
