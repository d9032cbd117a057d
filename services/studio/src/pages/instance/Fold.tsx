import { type ReactNode, useState } from "react";
import { t } from "../../text";
import { Icon } from "../../ui/Icon";

interface Props {
  rounds: number;
  names: readonly string[];
  more: number;
  /** The lines in it. */
  count: number;
  /** It stands between headings, not between lines. */
  isWide?: boolean;
  children: () => ReactNode;
}

/** A loop as one line, which opens. */
export function Fold({ rounds, names, more, count, isWide, children }: Props) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className={`flex min-h-8 w-full items-center gap-2 border-b border-line/60 px-4 py-0.5 text-left text-sm hover:bg-sunken ${isWide ? "bg-sunken/60" : ""}`}
      >
        <Icon name={open ? "down" : "right"} size={12} />
        <span className="min-w-0 flex-1 truncate font-medium">
          {t.instance.rounds(rounds, names.join(", "), more)}
        </span>
        <span className="text-xs text-soft">{t.instance.linesOf(count)}</span>
      </button>
      {open && <div className="border-l-2 border-line">{children()}</div>}
    </>
  );
}
