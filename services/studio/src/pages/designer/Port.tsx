import { Handle, Position } from "@xyflow/react";
import type { CSSProperties, ReactNode } from "react";

interface Props {
  node: string;
  id: string;
  type: "source" | "target";
  position: Position;
  canConnect: boolean;
  /** Whether a line can be drawn from it now; until then it is a mark that a line can lead to. */
  isLive: boolean;
  style?: CSSProperties;
  children?: ReactNode;
}

/** Where lines begin or end. A thousand cards have two thousand of them, so most are plain elements. */
export function Port({ node, id, type, position, canConnect, isLive, style, children }: Props) {
  const hidden = canConnect ? "" : "hidden-port";
  if (isLive && canConnect) {
    return (
      <Handle id={id} type={type} position={position} style={style}>
        {children}
      </Handle>
    );
  }
  return (
    <div
      data-handleid={id}
      data-nodeid={node}
      data-handlepos={position}
      data-id={`1-${node}-${id}-${type}`}
      style={style}
      className={`react-flow__handle react-flow__handle-${position} nodrag nopan ${type} ${canConnect ? "connectable connectablestart connectableend" : ""} ${hidden}`}
    >
      {children}
    </div>
  );
}

interface PortsProps {
  node: string;
  outcomes: readonly string[];
  isVertical: boolean;
  canConnect: boolean;
  isLive: boolean;
}

export function Ports({ node, outcomes, isVertical, canConnect, isLive }: PortsProps) {
  const common = { node, canConnect, isLive };
  const entry = isVertical ? Position.Top : Position.Left;
  return (
    <>
      <Port {...common} id="In" type="target" position={entry} />
      {isVertical ? (
        <Port {...common} id="Done" type="source" position={Position.Bottom} />
      ) : (
        outcomes.map((outcome, at) => (
          <Port
            key={outcome}
            {...common}
            id={outcome}
            type="source"
            position={Position.Right}
            style={{ top: `${((at + 0.5) * 100) / outcomes.length}%` }}
          >
            {outcomes.length > 1 && <span className="outcome">{outcome}</span>}
          </Port>
        ))
      )}
    </>
  );
}
