import { EdgeLabelRenderer } from "@xyflow/react";

interface Props {
  text: string;
  at: { x: number; y: number };
  /** It stands above the beginning of its line, and not around a point of it. */
  isBeginning?: boolean;
  /** The space that it has, in pixels of the drawing. */
  room?: number;
  className?: string;
}

/** The name of a line, above all lines: none is drawn through it. */
export function LineWord({ text, at, isBeginning, room, className = "" }: Props) {
  const own = isBeginning ? "translate(0, -100%)" : "translate(-50%, -50%)";
  return (
    <EdgeLabelRenderer>
      <div
        // A line has this name for assistive tech already.
        aria-hidden="true"
        title={text}
        className={`line-word ${className}`}
        style={{ transform: `translate(${at.x}px, ${at.y}px) ${own}`, maxWidth: room }}
      >
        {text}
      </div>
    </EdgeLabelRenderer>
  );
}
