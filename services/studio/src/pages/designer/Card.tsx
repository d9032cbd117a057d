import type { NodeProps } from "@xyflow/react";
import { memo, useState } from "react";
import { stateOf } from "../../lib/states";
import { Icon } from "../../ui/Icon";
import { StateIcon } from "../../ui/State";
import { Glyph } from "./Glyph";
import { Inside } from "./Inside";
import type { CardNode } from "./nodes";
import { Ports } from "./Port";
import { useStudio } from "./store";
import { w } from "./words";

const EDGE = { error: "bg-faulted", warning: "bg-waiting" };

function Chips({ card, isOpen }: { card: CardNode["data"]["card"]; isOpen: boolean }) {
  const studio = useStudio();
  if (card.chips.length === 0) return null;
  const shown = card.chips.length > 4 ? card.chips.slice(0, 3) : card.chips;
  return (
    <div className="chips nodrag absolute top-full left-2 flex max-w-[170px] gap-1">
      {shown.map(({ label, page, count }) => (
        <button
          key={page.slot || page.owner}
          type="button"
          tabIndex={-1}
          title={w.openSlot(label || w.inside, card.name)}
          onClick={(event) => {
            event.stopPropagation();
            studio.open(page);
          }}
          className={`h-5 max-w-20 shrink-0 truncate rounded-b-md border border-t-0 border-line-strong/60 px-1.5 text-[11px] leading-4 ${count > 0 ? "bg-raised text-ink" : "bg-paper text-soft"} hover:bg-accent-soft`}
        >
          {label || w.open}
          {count > 0 && <span className="ml-1 text-soft tabular-nums">{count}</span>}
        </button>
      ))}
      {card.chips.length > shown.length && (
        <span className="text-[11px] text-soft">+{card.chips.length - shown.length}</span>
      )}
      <button
        type="button"
        tabIndex={-1}
        aria-expanded={isOpen}
        aria-label={w.inPlace(card.name)}
        title={w.inPlace(card.name)}
        onClick={(event) => {
          event.stopPropagation();
          studio.toggleInPlace(card.key);
        }}
        className="h-5 shrink-0 rounded-b-md border border-t-0 border-line-strong/60 bg-raised w-6 text-[11px] leading-4 hover:bg-accent-soft"
      >
        {isOpen ? "▴" : "▾"}
      </button>
    </div>
  );
}

/** An activity on the canvas. */
export const Card = memo(({ data, selected, width }: NodeProps<CardNode>) => {
  const { card, isVertical, canConnect, problem, mark, isRun, isPinned, isOpen } = data;
  const [isLive, setLive] = useState(false);
  const edge = problem ? EDGE[problem] : card.isStart ? "bg-finished" : "bg-accent";
  return (
    <div style={{ height: card.height }} onPointerEnter={() => setLive(true)}>
      <div
        style={{ height: card.height, width }}
        className={`card flex items-center gap-2 overflow-hidden rounded-md border bg-raised pr-2 pl-3.5 text-left ${selected ? "border-accent ring-2 ring-accent" : "border-line-strong/60"} ${isRun && !mark ? "opacity-45" : ""}`}
      >
        <span className={`absolute inset-y-0 left-0 w-1.5 rounded-l-md ${edge}`} />
        <span className="inner text-soft">
          <Glyph of={card.glyph} />
        </span>
        <span className="inner min-w-0 flex-1">
          <span className="block truncate text-sm leading-5 font-medium">{card.name}</span>
          <span className="block truncate text-xs text-soft">
            {card.isStart && card.about && card.type !== w.start
              ? `${w.start} · ${card.about}`
              : card.about || card.type || w.state}
          </span>
        </span>
        {isPinned && (
          <span className="inner text-accent" title={w.pinned}>
            <Icon name="pin" size={14} />
          </span>
        )}
        {mark && (
          <span className="inner flex items-center gap-1 text-xs text-soft tabular-nums">
            {mark.order !== undefined && <span title={w.order(mark.order)}>{mark.order}</span>}
            {mark.runs > 1 && `${mark.runs} ×`}
            <StateIcon state={stateOf(mark.status)} />
          </span>
        )}
      </div>
      <Ports
        node={card.key}
        outcomes={card.outcomes}
        isVertical={isVertical}
        canConnect={canConnect}
        isLive={isLive || selected}
      />
      <Chips card={card} isOpen={isOpen} />
      {isOpen && <Inside card={card} />}
    </div>
  );
});
Card.displayName = "Card";
