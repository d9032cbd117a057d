import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { quoted } from "../../../lib/shell";
import { visible } from "../../../lib/visible";
import type { Json } from "../../../model/json";
import { Button } from "../../../ui/Button";
import { Code, CopyCommands } from "../../../ui/Code";
import { download } from "../../../ui/download";
import { complain, notify } from "../../../ui/notices";
import { Badge, StateBadge } from "../../../ui/State";
import {
  type CaseRun,
  checkCases,
  differenceOf,
  fileName,
  fileOf,
  isOld,
  keepFile,
  namesIn,
  readImport,
  removeCase,
  runCases,
} from "../cases";
import { Locked } from "../Locked";
import { useStudio, useView } from "../store";
import { w } from "../words";
import { CaseEditor } from "./CaseEditor";
import { Refusal } from "./Problems";

const IMPORTED_MAX = 4;

/** The file to bring in: it takes the place of all tests. */
function Import() {
  const studio = useStudio();
  const picker = useRef<HTMLInputElement>(null);
  const take = async (chosen: File) => {
    try {
      const { file, flaws, reason } = await readImport(await chosen.text());
      if (reason !== undefined) {
        complain(new Error(w.caseWords.importBad(chosen.name, [reason])));
        return;
      }
      if (file && flaws.length === 0) {
        keepFile(studio, "import", file);
        notify(w.caseWords.imported(namesIn(file).length));
        return;
      }
      const said = flaws.map(({ line, column, message }) => w.caseWords.flaw(line, column, message));
      complain(new Error(w.caseWords.importBad(chosen.name, said.slice(0, IMPORTED_MAX))));
    } catch (error) {
      complain(error);
    }
  };
  return (
    <>
      <input
        ref={picker}
        type="file"
        hidden
        aria-label={w.caseWords.import}
        accept=".yaml,.yml,.json"
        onChange={({ target }) => {
          const [chosen] = target.files ?? [];
          if (chosen) void take(chosen);
          target.value = "";
        }}
      />
      <Button icon="upload" title={w.caseWords.importNote} onClick={() => picker.current?.click()}>
        {w.caseWords.import}
      </Button>
    </>
  );
}

/** How the last run of a test ended. */
function Outcome({ run, doc }: { run: CaseRun | undefined; doc: Json }) {
  if (!run) return <Badge>{w.caseWords.notRun}</Badge>;
  const { passed } = run.of;
  return (
    <>
      {isOld(run, doc) && <Badge tone="warn">{w.caseWords.old}</Badge>}
      <StateBadge
        status={passed ? "Finished" : "Faulted"}
        word={passed ? w.caseWords.pass : w.caseWords.fail}
      />
    </>
  );
}

interface RowProps {
  name: string;
  run: CaseRun | undefined;
  doc: Json;
  isBusy: boolean;
  onRun: () => void;
  onEdit: () => void;
}

function Row({ name, run, doc, isBusy, onRun, onEdit }: RowProps) {
  const studio = useStudio();
  const shown = visible(name);
  return (
    <li className="space-y-2 border-b border-line px-3 py-1.5" data-case={name}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
        <span className="min-w-0 flex-1 basis-40 font-medium [overflow-wrap:anywhere]">{shown}</span>
        <Outcome run={run} doc={doc} />
        <div className="flex items-center gap-1">
          <Button
            tone="quiet"
            icon="instances"
            label={w.caseWords.run(shown)}
            disabled={isBusy}
            onClick={onRun}
          />
          <Button tone="quiet" icon="list" label={w.caseWords.edit(shown)} onClick={onEdit} />
          <Locked className="">
            <Button
              tone="quiet"
              icon="bin"
              label={w.caseWords.remove(shown)}
              onClick={() => removeCase(studio, name)}
            />
          </Locked>
        </div>
      </div>
      {run && run.of.differences.length > 0 && (
        <Code
          label={w.caseWords.differs(shown)}
          text={run.of.differences.map((one) => differenceOf(one).trimEnd()).join("\n\n")}
        />
      )}
    </li>
  );
}

/** The tests that the workflow has with it: they run with it as it is drawn. */
export function Cases() {
  const studio = useStudio();
  const doc = useView((state) => state.history.doc);
  const { results, refused } = useView((state) => state.cases);
  /** The test that is edited; null for the whole file. */
  const [edited, setEdited] = useState<string | null>();
  const run = useMutation({ mutationFn: (only?: string) => runCases(studio, only), meta: { quiet: true } });
  const file = fileOf(doc);
  const names = namesIn(file);
  const fresh = names.flatMap((name) => {
    const found = results.get(name);
    return found && !isOld(found, doc) ? [found] : [];
  });
  const give = async () => {
    if (!file) return;
    try {
      const { text } = await checkCases(file);
      download({ file: fileName(doc), text });
    } catch (error) {
      complain(error);
    }
  };
  return (
    <section aria-label={w.caseWords.title}>
      <div className="flex flex-wrap items-center gap-2 p-3">
        {names.length > 0 && (
          <Button tone="main" busy={run.isPending} onClick={() => run.mutate(undefined)}>
            {w.caseWords.runAll}
          </Button>
        )}
        <p role="status" className="text-sm font-medium">
          {fresh.length > 0 && w.caseWords.passed(fresh.filter((one) => one.of.passed).length, fresh.length)}
        </p>
        <Locked className="flex flex-wrap items-center gap-2">
          <Import />
        </Locked>
        {names.length > 0 && (
          <Button icon="download" onClick={() => void give()}>
            {w.caseWords.export}
          </Button>
        )}
        <Button onClick={() => setEdited(null)}>{w.caseWords.editAll}</Button>
      </div>
      {refused !== undefined && (
        <div className="space-y-2 px-3 pb-3" data-cases="refused">
          <p className="text-sm font-medium">{w.caseWords.refused}</p>
          <Refusal error={refused} />
        </div>
      )}
      {names.length === 0 && (
        <div className="px-3 pb-3 text-sm">
          <p>{w.caseWords.none}</p>
          <p className="text-soft">{w.caseWords.noneNote}</p>
        </div>
      )}
      {names.length > 0 && (
        <>
          <ul aria-label={w.caseWords.title} className="border-t border-line">
            {names.map((name) => (
              <Row
                key={name}
                name={name}
                run={results.get(name)}
                doc={doc}
                isBusy={run.isPending}
                onRun={() => run.mutate(name)}
                onEdit={() => setEdited(name)}
              />
            ))}
          </ul>
          <div className="p-3">
            <CopyCommands
              title={w.caseWords.command}
              commands={{ staunch: `staunch test ${quoted(fileName(doc))}` }}
            />
          </div>
        </>
      )}
      {edited !== undefined && <CaseEditor name={edited ?? undefined} onClose={() => setEdited(undefined)} />}
    </section>
  );
}
