import { type KeyboardEvent, type ReactNode, useId } from "react";

export interface Tab {
  key: string;
  word: string;
  count?: number;
}

interface Props {
  label: string;
  tabs: Tab[];
  current: string;
  onChange: (key: string) => void;
  children: ReactNode;
}

/** Tabs as the keyboard expects them: one stop, arrows between. */
export function Tabs({ label, tabs, current, onChange, children }: Props) {
  const base = useId();
  const move = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const at = tabs.findIndex((tab) => tab.key === current);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (!next) return;
    event.preventDefault();
    onChange(next.key);
    document.getElementById(`${base}-${next.key}`)?.focus();
  };
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div
        role="tablist"
        aria-label={label}
        onKeyDown={move}
        className="flex shrink-0 overflow-x-auto px-2 shadow-[inset_0_-1px_var(--line)]"
      >
        {tabs.map((tab) => (
          <button
            key={tab.key}
            id={`${base}-${tab.key}`}
            type="button"
            role="tab"
            aria-selected={tab.key === current}
            aria-controls={`${base}-panel`}
            tabIndex={tab.key === current ? 0 : -1}
            onClick={() => onChange(tab.key)}
            className={`h-9 border-b-2 px-3 text-sm whitespace-nowrap -outline-offset-2 ${
              tab.key === current
                ? "border-accent font-medium text-ink"
                : "border-transparent text-soft hover:text-ink"
            }`}
          >
            {tab.word}
            {tab.count !== undefined && tab.count > 0 && (
              <span className="ml-1.5 rounded-sm bg-sunken px-1 text-xs tabular-nums">{tab.count}</span>
            )}
          </button>
        ))}
      </div>
      <div
        id={`${base}-panel`}
        role="tabpanel"
        aria-labelledby={`${base}-${current}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a panel that scrolls must be reached by keyboard
        tabIndex={0}
        className="relative min-h-0 flex-1 overflow-auto"
      >
        {children}
      </div>
    </div>
  );
}
