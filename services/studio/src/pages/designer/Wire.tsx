import { BaseEdge, type EdgeProps, getBezierPath, getSmoothStepPath } from "@xyflow/react";
import { memo } from "react";
import { TURN } from "../../model/layout";
import type { WireEdge } from "./nodes";
import { leadOf, lowest, nameOn } from "./wires";

/** Lines begin and end in the middle of a port, which is the edge of a card. */
const HALF = 5;

/** A line from an outcome to the next activity; one that leads back goes around. */
export const Wire = memo(
  ({
    sourceX,
    sourceY,
    targetX,
    targetY,
    sourcePosition,
    targetPosition,
    selected,
    data,
    label,
  }: EdgeProps<WireEdge>) => {
    const isDown = sourcePosition === "bottom";
    const ends = {
      sourceX: isDown ? sourceX : sourceX - HALF,
      sourceY: isDown ? sourceY - HALF : sourceY,
      targetX: isDown ? targetX : targetX + HALF,
      targetY: isDown ? targetY + HALF : targetY,
      sourcePosition,
      targetPosition,
    };
    const isBack = targetX < sourceX - 20 && !isDown;
    const lead = isBack || isDown ? 0 : leadOf(ends, data?.turn ?? TURN);
    const [curve, labelX, labelY] = isBack
      ? getSmoothStepPath({ ...ends, borderRadius: 16, offset: data?.turn, centerY: lowest(ends) })
      : getBezierPath({ ...ends, sourceX: ends.sourceX + lead });
    const path = lead > 0 ? `M${ends.sourceX},${ends.sourceY}L${curve.slice(1)}` : curve;
    const named = typeof label === "string" ? nameOn(label, ends, { x: labelX, y: labelY }) : undefined;
    return (
      <BaseEdge
        path={path}
        label={named?.text}
        labelX={named?.at.x}
        labelY={named?.at.y}
        interactionWidth={24}
        markerEnd="url(#wire-end)"
        className={`${selected ? "is-chosen" : ""} ${data?.isTaken === false ? "opacity-30" : ""}`}
      />
    );
  },
);
Wire.displayName = "Wire";
