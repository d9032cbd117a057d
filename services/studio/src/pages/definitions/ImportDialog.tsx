import { Link } from "@tanstack/react-router";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Badge, Version } from "../../ui/State";
import { type Imported, wrongFiles } from "./importing";

const LIST = "max-h-96 divide-y divide-line overflow-auto border-y border-line text-sm";

function Drafts({ files, leftOut }: Imported) {
  return (
    <>
      <ul className={LIST}>
        {files.map(({ file, definitionId, name, version, isNew }) => (
          <li key={definitionId} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2">
            <span className="min-w-0 flex-1 basis-48 font-mono text-xs text-soft [overflow-wrap:anywhere]">
              {file}
            </span>
            <Link
              to="/definitions/$id"
              params={{ id: definitionId }}
              className="link min-w-0 flex-1 basis-40 font-medium [overflow-wrap:anywhere]"
            >
              {name || definitionId}
            </Link>
            {isNew ? (
              <Badge tone="good">{t.definitions.isNew}</Badge>
            ) : (
              <Badge>
                <Version of={version} />
              </Badge>
            )}
          </li>
        ))}
      </ul>
      {leftOut.length > 0 && (
        <section className="mt-4 text-sm">
          <h3 className="text-soft">{t.definitions.leftOut}</h3>
          <ul className="mt-1 max-h-48 list-disc overflow-auto pl-5 font-mono text-xs">
            {/* Two zips may have files of the same name. */}
            {[...new Set(leftOut)].map((file) => (
              <li key={file} className="[overflow-wrap:anywhere]">
                {file}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** What became of each file: the draft that is stored, or what is wrong with it. */
export function ImportDialog({ outcome, onClose }: { outcome: Imported | Error; onClose: () => void }) {
  const isRefused = outcome instanceof Error;
  const title = isRefused ? t.definitions.nothingImported : t.definitions.imported(outcome.files.length);
  return (
    <Dialog title={title} onClose={onClose}>
      {isRefused ? (
        <ul className={LIST}>
          {wrongFiles(outcome).map((detail) => (
            <li key={detail} className="py-2 break-words">
              {detail}
            </li>
          ))}
        </ul>
      ) : (
        <Drafts {...outcome} />
      )}
      <div className="mt-5 flex justify-end">
        <Button onClick={onClose}>{t.close}</Button>
      </div>
    </Dialog>
  );
}
