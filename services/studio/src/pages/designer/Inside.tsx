import { type DragEvent, memo, useMemo } from "react";
import { dropAt } from "../../lib/order";
import { nameOf } from "../../model/activities";
import { membersOf } from "../../model/json";
import { CARD, HEIGHT, WIDTH } from "../../model/layout";
import type { Item, PageView, Point } from "../../model/view";
import { type Reorder, useReorder } from "../../ui/reorder";
import { type CardView, type Chip, cardOf } from "./cards";
import { addType, isDownward, reorderBy } from "./deeds";
import { Glyph } from "./Glyph";
import { DRAGGED } from "./handlers";
import { EDGE, shrunk, smallPage } from "./insides";
import { useStudio, useView } from "./store";
import { w } from "./words";

interface SmallProps {
  item: Item;
  at: Point;
  /** What makes it one that can be dragged. */
  source: ReturnType<Reorder["source"]>;
}

function Small({ item, at, source }: SmallProps) {
  const studio = useStudio();
  const index = useView((state) => state.index);
  const isChosen = useView((state) => state.selected.includes(item.key));
  const { entry } = item;
  const name = entry ? nameOf(entry.activity, index.type(entry)) : item.key.replace(/^state:/, "");
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      title={name}
      {...source}
      data-inside={entry ? item.key : undefined}
      style={{ left: at.x, top: at.y, width: shrunk(CARD), height: shrunk(HEIGHT) }}
      className={`absolute rounded-sm border bg-raised text-left text-xs ${isChosen ? "border-accent ring-2 ring-accent" : "border-line-strong/60"}`}
      onClick={() => entry && studio.select([item.key])}
      onDoubleClick={() => entry && studio.reveal(item.key)}
    >
      {/* It fills the button: in Firefox a button is dragged by what is in it only. */}
      <span className="flex size-full items-center gap-1.5 px-2">
        <span className="text-soft">
          <Glyph of={entry ? cardOf(entry, index.type(entry)).glyph : "unknown"} size={12} />
        </span>
        <span className="min-w-0 flex-1 truncate">{name}</span>
      </span>
    </button>
  );
}

function lineOf(view: PageView, from: Point, to: Point): string {
  const [width, height] = [shrunk(CARD), shrunk(HEIGHT)];
  if (view.kind === "list") return `M${from.x + width / 2} ${from.y + height}L${to.x + width / 2} ${to.y}`;
  const [x, y] = [from.x + width, from.y + height / 2];
  const half = Math.max(12, Math.abs(to.x - x) / 2);
  return `M${x} ${y}C${x + half} ${y} ${to.x - half} ${to.y + height / 2} ${to.x} ${to.y + height / 2}`;
}

function Place({ chip, name }: { chip: Chip; name: string }) {
  const studio = useStudio();
  const index = useView((state) => state.index);
  const isReadonly = useView((state) => membersOf(state.history.doc)?.isReadonly === true);
  const { view, places, width, height, path } = useMemo(() => {
    const small = smallPage(index, chip.page, (from, page) => studio.placesIn(from, page));
    const lines = small.view.lines.map(({ from, to }) => {
      const [start, end] = [small.places.get(from), small.places.get(to)];
      return start && end ? lineOf(small.view, start, end) : "";
    });
    return { ...small, path: lines.join("") };
  }, [studio, index, chip.page]);
  const dropOf = (event: DragEvent<HTMLElement>, key: string) => {
    const box = event.currentTarget.getBoundingClientRect();
    const zoom = box.width / width;
    const at = { x: (event.clientX - box.left) / zoom, y: (event.clientY - box.top) / zoom };
    const size = { width: shrunk(WIDTH), height: shrunk(HEIGHT) };
    const boxes = view.items.map((item) => ({ ...(places.get(item.key) ?? { x: EDGE, y: EDGE }), ...size }));
    const from = view.items.findIndex((item) => item.key === key);
    return dropAt(boxes, from, at, { isDown: isDownward(view), margin: 2 * EDGE, pad: EDGE / 2 });
  };
  const canReorder = view.kind === "list" && !isReadonly && !studio.isLocked;
  const order = useReorder(dropOf, canReorder ? (key, by) => reorderBy(studio, key, by) : undefined);
  const line = order.drop?.line;
  return (
    <section aria-label={w.openSlot(chip.label || w.inside, name)}>
      <button
        type="button"
        className="px-3 pt-1.5 text-xs text-soft hover:text-ink"
        onClick={() => studio.open(chip.page)}
      >
        {chip.label || w.inside} ↗
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is a short way; the palette adds by keyboard, too */}
      <div
        className="relative"
        style={{ width, height }}
        onDragOver={(event) => {
          if (event.dataTransfer.types.includes(DRAGGED)) event.preventDefault();
          else order.target.onDragOver(event);
        }}
        onDragLeave={order.target.onDragLeave}
        onDrop={(event) => {
          const type = studio.types.get(event.dataTransfer.getData(DRAGGED));
          if (!type) {
            order.target.onDrop(event);
            return;
          }
          event.preventDefault();
          event.stopPropagation();
          addType(studio, type, {}, chip.page);
        }}
      >
        <svg aria-hidden="true" className="pointer-events-none absolute inset-0 size-full">
          <path d={path} fill="none" stroke="var(--line-strong)" markerEnd="url(#wire-end)" />
          {line && (
            <path
              data-drop
              d={
                line.along === "x"
                  ? `M${line.from} ${line.at}H${line.to}`
                  : `M${line.at} ${line.from}V${line.to}`
              }
              stroke="var(--accent)"
              strokeWidth={2}
            />
          )}
        </svg>
        {view.items.map((item) => (
          <Small
            key={item.key}
            item={item}
            at={places.get(item.key) ?? { x: EDGE, y: EDGE }}
            source={order.source(item.key)}
          />
        ))}
        {view.items.length === 0 && <p className="p-3 text-xs text-soft">{w.dropHere}</p>}
      </div>
    </section>
  );
}

/** What is in a container, below its card: to select, change, add and remove without leaving the page. */
export const Inside = memo(({ card }: { card: CardView }) => (
  // biome-ignore lint/a11y/noStaticElementInteractions: presses in it must not select the card around it
  // biome-ignore lint/a11y/useKeyWithClickEvents: the same; the buttons inside have the keys
  <div
    className="inside nodrag nopan absolute top-full left-0 mt-7 w-max cursor-default rounded-md border border-line-strong/60 bg-paper shadow-panel"
    onClick={(event) => event.stopPropagation()}
    onDoubleClick={(event) => event.stopPropagation()}
  >
    {card.chips.map((chip) => (
      <Place key={chip.page.slot || chip.page.owner} chip={chip} name={card.name} />
    ))}
  </div>
));
Inside.displayName = "Inside";
