import { type PointerEvent, type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { giveBack } from "../../ui/Dialog";
import { bounded, boundsOf, growth, type PanelName, readSizes, sizeAfter, writeSize } from "./sizes";
import { useStudio, useView } from "./store";
import { w } from "./words";

/** Here no panel is beside the canvas: the styles call it `max-md`. */
const NARROW = "(width < 48rem)";

/** In a narrow window, a panel that is open lies over the canvas. */
const OVER = "max-md:absolute max-md:inset-y-0 max-md:z-20 max-md:w-80 max-md:max-w-full max-md:shadow-panel";

function onResize(listener: () => void): () => void {
  window.addEventListener("resize", listener);
  return () => window.removeEventListener("resize", listener);
}

const LOOKS = {
  left: {
    handle: "-mx-1 w-2",
    buttons: "top-1/2 left-3 flex-col",
    keys: ["ArrowLeft", "ArrowRight"],
    narrow: "max-md:left-0",
  },
  right: {
    handle: "-mx-1 w-2",
    buttons: "top-1/2 right-3 flex-col",
    keys: ["ArrowLeft", "ArrowRight"],
    narrow: "max-md:right-0",
  },
  drawer: { handle: "-my-1 h-2", buttons: "bottom-3 left-1/2", keys: ["ArrowUp", "ArrowDown"], narrow: "" },
} as const;

const ICONS = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" } as const;

interface Props {
  name: PanelName;
  id: string;
  label: string;
  className: string;
  children: ReactNode;
}

/** A panel beside the canvas; its edge changes its size, by dragging, by keys, or by buttons. */
export function Panel({ name, id, label, className, children }: Props) {
  const width = useSyncExternalStore(onResize, () => window.innerWidth);
  const height = useSyncExternalStore(onResize, () => window.innerHeight);
  const [chosen, setChosen] = useState(() => readSizes()[name]);
  const drag = useRef({ at: 0, size: 0, chosen });
  const bounds = boundsOf(name, { width, height });
  const now = bounded(chosen ?? bounds.usual, bounds);
  const isDrawer = name === "drawer";
  const isNarrow = useSyncExternalStore(onResize, () => window.matchMedia(NARROW).matches);
  const studio = useStudio();
  const isOver = useView((state) => state.over === name) && isNarrow;
  const first = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!isOver) return;
    const before = document.activeElement;
    // What one wants to fill in has it, where that was asked for.
    if (!first.current?.contains(before)) first.current?.focus();
    return () => giveBack(before);
  }, [isOver]);
  const look = LOOKS[name];

  const choose = (size: number | undefined) => {
    drag.current.chosen = size;
    setChosen(size);
  };
  const press = (key: string): boolean => {
    const size = sizeAfter(key, name, now, bounds);
    if (size === undefined) return false;
    choose(size);
    writeSize(name, size);
    return true;
  };
  const along = (event: PointerEvent) => (isDrawer ? event.clientY : event.clientX);
  const handle = !isNarrow && (
    <div className={`group relative z-10 shrink-0 ${look.handle}`}>
      {/* biome-ignore lint/a11y/useSemanticElements: a line that can be moved has a size, which hr has not */}
      <div
        role="separator"
        tabIndex={0}
        aria-label={w.sizeOf(label)}
        aria-controls={id}
        aria-orientation={isDrawer ? "horizontal" : "vertical"}
        aria-valuenow={now}
        aria-valuemin={bounds.min}
        aria-valuemax={bounds.max}
        className={`absolute inset-0 flex touch-none items-center justify-center select-none hover:bg-accent-soft focus-visible:bg-accent-soft ${isDrawer ? "cursor-row-resize" : "cursor-col-resize"}`}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          drag.current = { at: along(event), size: now, chosen };
        }}
        onPointerMove={(event) => {
          if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
          const { at, size } = drag.current;
          const next = bounded(size + (along(event) - at) * growth(name), bounds);
          if (next !== now) choose(next);
        }}
        onLostPointerCapture={() => writeSize(name, drag.current.chosen)}
        onDoubleClick={() => {
          choose(undefined);
          writeSize(name, undefined);
        }}
        onKeyDown={(event) => {
          if (event.altKey || event.ctrlKey || event.metaKey || !press(event.key)) return;
          event.preventDefault();
          event.stopPropagation();
        }}
      >
        <span className={`rounded-sm bg-line-strong ${isDrawer ? "h-1 w-8" : "h-8 w-1"}`} />
      </div>
      {/* For those who cannot drag and have no keys: they are there while the line has the focus. */}
      <div className={`invisible absolute flex gap-1 group-focus-within:visible ${look.buttons}`}>
        {look.keys.map((key, at) => (
          <Button
            key={key}
            tabIndex={-1}
            icon={ICONS[key]}
            label={(at === 1) === growth(name) > 0 ? w.larger(label) : w.smaller(label)}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => press(key)}
          />
        ))}
      </div>
    </div>
  );
  const Box = isDrawer ? "section" : "aside";
  const box = (
    <Box
      ref={first}
      tabIndex={isOver ? -1 : undefined}
      id={id}
      aria-label={label}
      className={`${className} ${look.narrow} ${isDrawer ? "" : isOver ? OVER : "max-md:hidden"}`}
      style={isNarrow ? undefined : { [isDrawer ? "height" : "width"]: now }}
    >
      {isOver && (
        <div className="sticky top-0 z-10 flex shrink-0 items-center border-b border-line bg-raised pl-3">
          <span className="flex-1 text-sm font-semibold">{label}</span>
          <Button tone="quiet" icon="close" label={t.close} onClick={() => studio.set({ over: undefined })} />
        </div>
      )}
      {children}
    </Box>
  );
  return name === "left" ? (
    <>
      {box}
      {handle}
    </>
  ) : (
    <>
      {handle}
      {box}
    </>
  );
}
