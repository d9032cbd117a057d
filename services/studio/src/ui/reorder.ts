import { type DragEvent, useState } from "react";
import type { Drop } from "../lib/order";

const MOVED = "application/x-staunch-order";

/**
 * Reorders a list by the mouse. `look` says where what is dragged would come; without `onMove` nothing can be
 * dragged. What comes from another list is not taken.
 */
export function useReorder(
  look: (event: DragEvent<HTMLElement>, key: string) => Drop | undefined,
  onMove: ((key: string, by: number) => void) | undefined,
) {
  const [dragged, setDragged] = useState<string>();
  const [drop, setDrop] = useState<Drop>();
  const stop = () => {
    setDragged(undefined);
    setDrop(undefined);
  };
  return {
    /** Where what is dragged would come now. */
    drop,
    /** For what can be dragged. */
    source: (key: string) =>
      onMove && {
        draggable: true,
        onDragStart: (event: DragEvent<HTMLElement>) => {
          event.dataTransfer.setData(MOVED, key);
          event.dataTransfer.effectAllowed = "move";
          setDragged(key);
        },
        onDragEnd: stop,
      },
    /** For the list around it. */
    target: {
      onDragOver: (event: DragEvent<HTMLElement>) => {
        if (dragged === undefined) return;
        const next = look(event, dragged);
        if (next) event.preventDefault();
        setDrop((was) => (was?.by === next?.by ? was : next));
      },
      onDragLeave: (event: DragEvent<HTMLElement>) => {
        const to = event.relatedTarget;
        if (!(to instanceof Node) || !event.currentTarget.contains(to)) setDrop(undefined);
      },
      onDrop: (event: DragEvent<HTMLElement>) => {
        if (dragged === undefined || !drop) return;
        event.preventDefault();
        event.stopPropagation();
        stop();
        onMove?.(dragged, drop.by);
      },
    },
  };
}

export type Reorder = ReturnType<typeof useReorder>;
