import { useState } from "react";
import { formatBytes } from "../lib/format";
import { SECRET_FILE, type Store, storesOf } from "../lib/shell";
import { visible } from "../lib/visible";
import { t } from "../text";
import { Button } from "./Button";

export function CopyButton({
  text,
  label = t.copy,
  autoFocus,
}: {
  text: string;
  label?: string;
  autoFocus?: boolean;
}) {
  const [copied, setCopied] = useState(false);
  return (
    <Button
      tone="quiet"
      icon={copied ? "check" : "copy"}
      label={copied ? t.copied : label}
      className="!size-6"
      autoFocus={autoFocus}
      onClick={() => {
        void navigator.clipboard.writeText(text);
        setCopied(true);
        setTimeout(() => setCopied(false), 1500);
      }}
    />
  );
}

const SHOWN = 4096;

/** Text as it is. A huge one shows its first part and its size. */
export function Code({
  text,
  label,
  tall,
  isToCopy,
}: {
  text: string;
  label: string;
  tall?: boolean;
  /** The button that copies it takes the focus. */
  isToCopy?: boolean;
}) {
  const [whole, setWhole] = useState(false);
  const cut = !whole && text.length > SHOWN && !tall;
  return (
    <div className="relative min-w-0 rounded-md border border-line bg-sunken">
      {/* biome-ignore lint/a11y/useSemanticElements: a page has several texts, often of one name: they are no landmarks */}
      <div
        role="group"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a text that scrolls must be reached by keyboard
        tabIndex={0}
        aria-label={label}
        className={`overflow-auto ${tall ? "" : "max-h-96"}`}
      >
        <pre className="p-3 pr-10 font-mono text-xs leading-5 whitespace-pre-wrap [overflow-wrap:anywhere]">
          {visible(cut ? text.slice(0, SHOWN) : text)}
        </pre>
      </div>
      <div className="absolute top-1 right-1">
        <CopyButton text={text} autoFocus={isToCopy} />
      </div>
      {cut && (
        <Button tone="quiet" className="m-1" onClick={() => setWhole(true)}>
          {t.showAll(formatBytes(text.length))}
        </Button>
      )}
    </div>
  );
}

export const pretty = (value: unknown): string => JSON.stringify(value, null, 2) ?? "";

type Lines = string | readonly string[] | null;

export interface Commands {
  staunch?: Lines;
  nats?: Lines;
  curl?: Lines;
}

/** The same thing from a terminal. */
export function CopyCommands({ commands, title = t.commands }: { commands: Commands; title?: string }) {
  const lines = (["staunch", "nats", "curl"] as const).flatMap((tool) => {
    const said = commands[tool];
    return (typeof said === "string" ? [said] : (said ?? [])).map((line) => [tool, line] as const);
  });
  if (lines.length === 0) return null;
  const stores = new Set<Store>(lines.flatMap(([tool, line]) => (tool === "staunch" ? storesOf(line) : [])));
  return (
    <details className="min-w-0 text-sm">
      <summary className="w-fit cursor-pointer py-1 text-xs text-soft hover:text-ink">{title}</summary>
      <ul className="mt-1 space-y-1">
        {lines.map(([tool, line]) => (
          <li key={line} className="flex items-start gap-2 rounded-md bg-sunken py-1 pr-1 pl-2">
            <code className="min-w-0 flex-1 py-0.5 font-mono text-xs break-all">{line}</code>
            <CopyButton text={line} label={t.copyLine(tool)} />
          </li>
        ))}
      </ul>
      {lines.some(([, line]) => line.includes(SECRET_FILE)) && (
        <p className="mt-1 text-xs text-soft">{t.secretFile}</p>
      )}
      {stores.size > 0 && <p className="mt-1 text-xs text-soft">{t.storesAsked([...stores])}</p>}
      {lines.some(([tool]) => tool === "nats") && <p className="mt-1 text-xs text-soft">{t.natsServer}</p>}
    </details>
  );
}
