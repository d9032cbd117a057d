import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { rem } from "../lib/rem";
import { Button, type Tone } from "./Button";
import type { IconName } from "./Icon";

export interface MenuItem {
  word: string;
  act: () => void;
  danger?: boolean;
  disabled?: boolean;
}

interface Props {
  label: string;
  items: (MenuItem | false | undefined)[];
  icon?: IconName;
  tone?: Tone;
  word?: string;
}

/** A button with a menu; arrows move, Escape closes. */
export function Menu({ label, items, icon = "more", tone = "plain", word }: Props) {
  const shown = items.filter((item): item is MenuItem => Boolean(item));
  const [place, setPlace] = useState<{ top: number; right: number }>();
  const open = place !== undefined;
  const close = () => setPlace(undefined);
  const toButton = () => box.current?.querySelector("button")?.focus();
  const show = () => {
    // It stands above everything, so that a table that scrolls does not cut it.
    const button = box.current?.getBoundingClientRect();
    if (!button) return;
    const top = Math.min(button.bottom + 4, window.innerHeight - 2 * rem() * shown.length - 16);
    setPlace({ top: Math.max(4, top), right: document.documentElement.clientWidth - button.right });
  };
  const box = useRef<HTMLDivElement>(null);
  const name = useId();
  useEffect(() => {
    if (!open) return;
    box.current?.querySelector<HTMLElement>('[role="menuitem"]:not(:disabled)')?.focus();
    const away = (event: MouseEvent) => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) setPlace(undefined);
    };
    const scroll = (event: Event) => {
      // A long menu scrolls itself.
      if (!(event.target instanceof Node && box.current?.contains(event.target))) setPlace(undefined);
    };
    document.addEventListener("mousedown", away);
    document.addEventListener("scroll", scroll, true);
    return () => {
      document.removeEventListener("mousedown", away);
      document.removeEventListener("scroll", scroll, true);
    };
  }, [open]);
  const key = (event: KeyboardEvent) => {
    const all = [...(box.current?.querySelectorAll<HTMLElement>('[role="menuitem"]:not(:disabled)') ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && open) {
      event.preventDefault();
      all[(at + step + all.length) % all.length]?.focus();
    } else if (event.key === "Escape" && open) {
      event.stopPropagation();
      // A dialog around the menu stays.
      event.preventDefault();
      close();
      toButton();
    } else if (event.key === "Tab") close();
  };
  if (shown.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys belong to the buttons inside
    <div ref={box} className="relative" onKeyDown={key}>
      <Button
        tone={tone}
        icon={icon}
        label={word ? undefined : label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? name : undefined}
        onClick={() => (open ? close() : show())}
      >
        {word}
      </Button>
      {open && (
        <div
          id={name}
          role="menu"
          aria-label={label}
          style={place}
          className="fixed z-30 max-h-[calc(100vh-0.5rem)] min-w-48 overflow-y-auto rounded-md border border-line bg-raised py-1 shadow-panel"
        >
          {shown.map((item) => (
            <button
              key={item.word}
              type="button"
              role="menuitem"
              disabled={item.disabled}
              onClick={() => {
                close();
                // A dialog that opens now gives the focus back to what had it, which has to be still there.
                toButton();
                item.act();
              }}
              className={`block h-8 w-full px-3 text-left text-sm whitespace-nowrap hover:bg-sunken focus:bg-sunken disabled:opacity-45 ${item.danger ? "text-faulted" : ""}`}
            >
              {item.word}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
