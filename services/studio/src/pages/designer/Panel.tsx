import { type PointerEvent, type ReactNode, useRef, useState, useSyncExternalStore } from "react";
import { Button } from "../../ui/Button";
import { bounded, boundsOf, growth, type PanelName, readSizes, sizeAfter, writeSize } from "./sizes";
import { w } from "./words";

/** Below this width the panels are as the styles of phones say. */
const PHONE = 768;

function onResize(listener: () => void): () => void {
  window.addEventListener("resize", listener);
  return () => window.removeEventListener("resize", listener);
}

const LOOKS = {
  left: { handle: "-mx-1 w-2", buttons: "top-1/2 left-3 flex-col", keys: ["ArrowLeft", "ArrowRight"] },
  right: { handle: "-mx-1 w-2", buttons: "top-1/2 right-3 flex-col", keys: ["ArrowLeft", "ArrowRight"] },
  drawer: { handle: "-my-1 h-2", buttons: "bottom-3 left-1/2", keys: ["ArrowUp", "ArrowDown"] },
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
  const isPhone = width < PHONE;
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
  const handle = !isPhone && (
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
      id={id}
      aria-label={label}
      className={className}
      style={isPhone ? undefined : { [isDrawer ? "height" : "width"]: now }}
    >
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
