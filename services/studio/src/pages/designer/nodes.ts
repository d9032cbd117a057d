import { type Edge, type Node, Position } from "@xyflow/react";
import { type Index, titleOf } from "../../model/activities";
import { textOf } from "../../model/json";
import { CARD, HEIGHT, narrowed, turnOf } from "../../model/layout";
import type { Problem } from "../../model/problems";
import type { Item, Line, PageView, Point } from "../../model/view";
import { t } from "../../text";
import { type CardView, cardOf, stateCard } from "./cards";
import type { Mark } from "./store";
import { w } from "./words";

export interface CardData extends Record<string, unknown> {
  card: CardView;
  isVertical: boolean;
  canConnect: boolean;
  problem: "error" | "warning" | undefined;
  mark: Mark | undefined;
  isRun: boolean;
  /** It has a pinned result in test runs. */
  isPinned: boolean;
  /** Whether its inside is shown below it. */
  isOpen: boolean;
}

export type CardNode = Node<CardData, "card">;
/** `turn`: how far from its card a line begins to turn. */
export type WireEdge = Edge<{ line: Line; isTaken: boolean; turn: number }, "wire">;

/** The ports in use, by activity: a port that the type does not have must be seen, too. */
function portsInUse(lines: readonly Line[]): Map<string, string[]> {
  const used = new Map<string, string[]>();
  for (const { from, port } of lines) {
    const ports = used.get(from);
    if (!ports) used.set(from, [port]);
    else if (!ports.includes(port)) ports.push(port);
  }
  return used;
}

const SIZE = 10;

function handlesOf(card: CardView, isVertical: boolean, width: number): NonNullable<CardNode["handles"]> {
  const base = { width: SIZE, height: SIZE };
  const place = (x: number, y: number) => ({ x: x - SIZE / 2, y: y - SIZE / 2, ...base });
  const { height, outcomes } = card;
  if (isVertical) {
    return [
      { id: "In", type: "target", position: Position.Top, ...place(width / 2, 0) },
      { id: "Done", type: "source", position: Position.Bottom, ...place(width / 2, height) },
    ];
  }
  return [
    { id: "In", type: "target", position: Position.Left, ...place(0, height / 2) },
    ...outcomes.map((id, at) => ({
      id,
      type: "source" as const,
      position: Position.Right,
      ...place(width, ((at + 0.5) * height) / outcomes.length),
    })),
  ];
}

export function problemsByKey(problems: readonly Problem[]): ReadonlyMap<string, "error" | "warning"> {
  const found = new Map<string, "error" | "warning">();
  for (const { key, isWarning } of problems) {
    if (key !== undefined && found.get(key) !== "error") found.set(key, isWarning ? "warning" : "error");
  }
  return found;
}

interface Sources {
  index: Index;
  view: PageView;
  places: ReadonlyMap<string, Point>;
  selected: readonly string[];
  problems: ReadonlyMap<string, "error" | "warning">;
  marks: ReadonlyMap<string, Mark> | undefined;
  inPlace: ReadonlySet<string>;
  pins: { has: (key: string) => boolean };
  isReadonly: boolean;
  /** Who looks at it may change nothing. */
  isLocked?: boolean;
}

function isSameNode(one: CardNode, other: CardNode): boolean {
  const [a, b] = [one.data, other.data];
  return (
    one.position.x === other.position.x &&
    one.position.y === other.position.y &&
    one.width === other.width &&
    one.selected === other.selected &&
    one.draggable === other.draggable &&
    a.card === b.card &&
    a.isVertical === b.isVertical &&
    a.problem === b.problem &&
    a.mark === b.mark &&
    a.isRun === b.isRun &&
    a.isPinned === b.isPinned &&
    a.isOpen === b.isOpen &&
    a.canConnect === b.canConnect
  );
}

/** The cards of a page. A card that has not changed is the same object as before. */
export function nodesOf(from: Sources, before: ReadonlyMap<string, CardNode>): CardNode[] {
  const { index, view, places, marks } = from;
  const used = portsInUse(view.lines);
  const chosen = new Set(from.selected);
  const isVertical = view.kind === "list";
  const cards = new Map(
    view.items.map((item) => [
      item.key,
      item.entry
        ? cardOf(item.entry, index.type(item.entry), used.get(item.key))
        : stateCard(item, view.inside ?? {}, view.key ?? ""),
    ]),
  );
  const widths = isVertical ? undefined : narrowed(places, (key) => cards.get(key)?.height ?? HEIGHT);
  return view.items.flatMap((item): CardNode[] => {
    const card = cards.get(item.key);
    if (!card) return [];
    const width = widths?.get(item.key) ?? CARD;
    const problem = from.problems.get(item.key);
    const isPinned = from.pins.has(item.key);
    const words = [card.name, card.type, isPinned ? w.pinned : ""];
    const node: CardNode = {
      id: item.key,
      type: "card",
      position: places.get(item.key) ?? { x: 0, y: 0 },
      width,
      height: card.height,
      measured: { width, height: card.height },
      selected: chosen.has(item.key),
      ...(from.inPlace.has(item.key) ? { zIndex: 1000 } : {}),
      draggable: from.isLocked !== true && (view.kind !== "list" || !from.isReadonly),
      handles: handlesOf(card, isVertical, width),
      ariaLabel: words.filter(Boolean).join(", "),
      data: {
        card,
        isVertical,
        canConnect: view.kind === "flow" || view.kind === "machine",
        problem,
        mark: marks?.get(item.key),
        isRun: marks !== undefined,
        isPinned,
        isOpen: from.inPlace.has(item.key),
      },
    };
    const was = before.get(item.key);
    return [was && isSameNode(was, node) ? was : node];
  });
}

export function edgesOf(
  index: Index,
  view: PageView,
  selected: readonly string[],
  marks: ReadonlyMap<string, Mark> | undefined,
  before: ReadonlyMap<string, WireEdge>,
): WireEdge[] {
  const items = new Map(view.items.map((item) => [item.key, item]));
  const used = portsInUse(view.lines);
  const nameAt = ({ entry, state }: Item) => (entry ? titleOf(index, entry) : textOf(state?.name));
  const turnAt = ({ key, entry }: Item) =>
    turnOf(entry ? cardOf(entry, index.type(entry), used.get(key)).outcomes : []);
  const chosen = new Set(selected);
  return view.lines.flatMap((line): WireEdge[] => {
    const from = items.get(line.from);
    const to = items.get(line.to);
    if (!from || !to) return [];
    const ariaLabel = t.graph.lineFrom(nameAt(from), line.port, nameAt(to));
    const turn = turnAt(from);
    const isTaken = marks === undefined || (marks.has(line.from) && marks.has(line.to));
    const isSelected = chosen.has(line.id);
    const was = before.get(line.id);
    if (
      was &&
      was.selected === isSelected &&
      was.ariaLabel === ariaLabel &&
      was.data?.isTaken === isTaken &&
      was.data.turn === turn &&
      was.data.line.index === line.index &&
      was.data.line.port === line.port
    )
      return [was];
    return [
      {
        id: line.id,
        type: "wire",
        source: line.from,
        target: line.to,
        sourceHandle: view.kind === "machine" ? "" : line.port,
        targetHandle: "In",
        selected: isSelected,
        focusable: false,
        ariaLabel,
        reconnectable: view.kind === "flow",
        data: { line, isTaken, turn },
        ...(view.kind === "machine" ? { label: line.port } : {}),
      },
    ];
  });
}
