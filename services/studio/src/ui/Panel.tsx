import { type ReactNode, useEffect, useRef } from "react";
import { visible } from "../lib/visible";
import { t } from "../text";
import { Button } from "./Button";
import { giveBack, takeFocus } from "./Dialog";
import { heirFor } from "./focus";

/** A card of a page. */
export function Card({
  title,
  actions,
  children,
  className = "",
}: {
  title?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  className?: string;
}) {
  return (
    <section className={`min-w-0 rounded-md border border-line bg-raised ${className}`}>
      {title && (
        <header className="flex min-h-10 items-center gap-2 border-b border-line px-4">
          <h2 className="flex-1 text-sm font-semibold">{title}</h2>
          {actions}
        </header>
      )}
      {children}
    </section>
  );
}

/** What belongs to one object, beside its list. Escape closes it. */
export function SidePanel({
  title,
  onClose,
  children,
}: {
  title: ReactNode;
  onClose: () => void;
  children: ReactNode;
}) {
  const box = useRef<HTMLElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    const before = document.activeElement;
    const heir = heirFor(before);
    takeFocus(box.current);
    const key = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !document.querySelector("dialog[open]")) close.current();
    };
    document.addEventListener("keydown", key);
    return () => {
      document.removeEventListener("keydown", key);
      giveBack(before, heir);
    };
  }, []);
  return (
    <aside
      ref={box}
      tabIndex={-1}
      aria-label={typeof title === "string" ? title : t.details}
      className="fixed inset-y-0 right-0 z-20 flex w-full max-w-lg flex-col border-l border-line bg-raised shadow-panel"
    >
      <header className="flex h-12 shrink-0 items-center gap-2 border-b border-line px-4">
        <h2 className="min-w-0 flex-1 truncate font-semibold">{title}</h2>
        <Button tone="quiet" icon="close" label={t.close} onClick={onClose} />
      </header>
      <div className="min-h-0 flex-1 space-y-4 overflow-auto p-4">{children}</div>
    </aside>
  );
}

/** Name and value, one below the other. */
export function Facts({ facts }: { facts: (readonly [string, ReactNode] | undefined | false)[] }) {
  return (
    <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-sm">
      {facts.map(
        (fact) =>
          fact && (
            <div key={fact[0]} className="contents">
              <dt className="text-soft">{fact[0]}</dt>
              <dd className="min-w-0 break-words">
                {typeof fact[1] === "string" ? visible(fact[1]) : fact[1]}
              </dd>
            </div>
          ),
      )}
    </dl>
  );
}
