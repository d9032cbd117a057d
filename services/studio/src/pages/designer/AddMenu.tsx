import { useReactFlow } from "@xyflow/react";
import { useEffect, useRef } from "react";
import { addType } from "./deeds";
import { showSelected } from "./fit";
import { Offers } from "./Palette";
import { useStudio, useView } from "./store";
import { w } from "./words";

const WIDTH = 260;
const HEIGHT = 360;

/** The palette where it is wanted: at the end of a line, on a line, or at the selection. */
export function AddMenu() {
  const studio = useStudio();
  const flow = useReactFlow();
  const adding = useView((state) => state.adding);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!adding) return;
    const away = (event: MouseEvent) => {
      if (event.target instanceof Node && !box.current?.contains(event.target))
        studio.set({ adding: undefined });
    };
    const timer = setTimeout(() => document.addEventListener("mousedown", away), 50);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("mousedown", away);
    };
  }, [adding, studio]);
  if (!adding || studio.isLocked) return null;
  const left = Math.max(8, Math.min(adding.screen.x, window.innerWidth - WIDTH - 8));
  const top = Math.max(8, Math.min(adding.screen.y, window.innerHeight - HEIGHT - 8));
  const close = () => {
    studio.set({ adding: undefined });
    document.getElementById("designer-canvas")?.focus();
  };
  return (
    <div
      ref={box}
      role="dialog"
      aria-label={w.add}
      style={{ left, top, width: WIDTH, height: HEIGHT }}
      className="fixed z-30 flex flex-col rounded-md border border-line bg-raised shadow-panel"
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Escape") close();
      }}
    >
      <Offers
        id="designer-add"
        autoFocus
        onChoose={(type) => {
          addType(studio, type, adding.how);
          close();
          showSelected(studio, flow, true);
        }}
      />
    </div>
  );
}
