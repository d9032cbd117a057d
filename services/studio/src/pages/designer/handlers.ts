import type {
  Connection,
  EdgeMouseHandler,
  NodeChange,
  NodeMouseHandler,
  OnConnectEnd,
  OnReconnect,
  ReactFlowInstance,
} from "@xyflow/react";
import type { DragEvent, MouseEvent as ReactMouseEvent } from "react";
import { type Drop, dropAt } from "../../lib/order";
import { reconnect } from "../../model/commands";
import { boxOf, type Guide, guided } from "../../model/guides";
import { HEIGHT, WIDTH } from "../../model/layout";
import { gathered } from "../../model/room";
import type { Point } from "../../model/view";
import { heightOf, portsOf } from "./cards";
import { addState, addType, connectTo, insertAt, isDownward, moveTo, reorderBy } from "./deeds";
import type { CardNode, WireEdge } from "./nodes";
import type { Studio } from "./store";
import { w } from "./words";

export const NO_GUIDES: readonly Guide[] = [];
export const DRAGGED = "application/x-staunch-activity";

/** The places of the activities that are being dragged; the definition changes when they are let go. */
export type Dragged = ReadonlyMap<string, Point> | undefined;

/** The first of the dragged activities is put in line with those that stay; the others go along. */
function inLine(studio: Studio, moved: Map<string, Point>): readonly Guide[] {
  const { index, view, shown: places } = studio.get();
  const [first] = moved;
  if (!first || view.kind === "list") return NO_GUIDES;
  const others = view.items.flatMap(({ key }) => {
    const at = places.get(key);
    return at && !moved.has(key) ? [boxOf(at, heightOf(index, key))] : [];
  });
  const { by, guides } = guided(boxOf(first[1], heightOf(index, first[0])), others);
  if (by.x !== 0 || by.y !== 0)
    for (const [key, at] of moved) moved.set(key, { x: at.x + by.x, y: at.y + by.y });
  return guides;
}

/** Where in the open list the card comes that is dragged to a point. */
function dropIn(studio: Studio, key: string, at: Point): Drop | undefined {
  const { index, view, shown } = studio.get();
  const boxes = view.items.map((item) => ({
    ...(shown.get(item.key) ?? { x: 0, y: 0 }),
    width: WIDTH,
    height: heightOf(index, item.key),
  }));
  const from = view.items.findIndex((item) => item.key === key);
  const middle = { x: at.x + WIDTH / 2, y: at.y + heightOf(index, key) / 2 };
  return dropAt(boxes, from, middle, { isDown: isDownward(view), margin: HEIGHT, pad: 12 });
}

interface Hands {
  studio: Studio;
  flow: ReactFlowInstance<CardNode, WireEdge>;
  dragged: { current: Dragged };
  setDragged: (dragged: Dragged) => void;
  setGuides: (guides: readonly Guide[]) => void;
}

function lineUnder(event: { clientX: number; clientY: number }): string | undefined {
  for (const element of document.elementsFromPoint(event.clientX, event.clientY)) {
    const id = element.closest(".react-flow__edge")?.getAttribute("data-id");
    if (id) return id;
  }
  return undefined;
}

const markConnecting = (isOn: boolean) =>
  document.querySelector(".designer .react-flow")?.classList.toggle("is-connecting", isOn);

/** What the canvas does. They are made once: new ones would draw every card again. */
export function handlersFor({ studio, flow, dragged, setDragged, setGuides }: Hands) {
  const real = (point: Point): Point => gathered(point, studio.get().places, studio.get().shown);
  const centred = (event: { clientX: number; clientY: number }): Point => {
    const place = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    return real({ x: place.x - WIDTH / 2, y: place.y - HEIGHT / 2 });
  };

  /** Of many that are selected, only this one moves in a list. */
  let grabbed: string | undefined;

  const onNodesChange = (changes: NodeChange<CardNode>[]) => {
    const chosen = new Set(studio.get().selected);
    let isSelection = false;
    let moved: Map<string, Point> | undefined;
    const isList = studio.get().view.kind === "list";
    for (const change of changes) {
      if (change.type === "select") {
        isSelection = true;
        if (change.selected) chosen.add(change.id);
        else chosen.delete(change.id);
      } else if (change.type === "position" && change.position && change.dragging) {
        if (isList && change.id !== grabbed) continue;
        moved ??= new Map(dragged.current);
        moved.set(change.id, change.position);
      }
    }
    const here = new Set(studio.get().view.items.map((item) => item.key));
    const keys = [...chosen].filter((key) => here.has(key));
    if (isSelection) studio.select(keys, keys.length > 0 ? [] : studio.get().lines);
    if (moved) {
      const [only] = moved;
      const drop = isList && only ? dropIn(studio, ...only) : undefined;
      setGuides(isList ? (drop ? [{ ...drop.line, isDrop: true }] : NO_GUIDES) : inLine(studio, moved));
      setDragged(moved);
    }
  };

  /** An activity without lines that is let go on a line becomes a part of it. */
  const insertedInto = (
    event: { clientX: number; clientY: number },
    places: NonNullable<Dragged>,
  ): boolean => {
    const { view, index } = studio.get();
    const [only, ...more] = places;
    if (!only || more.length > 0 || view.lines.some((line) => line.from === only[0] || line.to === only[0]))
      return false;
    const under = lineUnder(event);
    const line = view.lines.find((one) => one.id === under);
    const port = portsOf(index, only[0])[0];
    if (!line || port === undefined) return false;
    insertAt(studio, only[0], line, port, only[1]);
    return true;
  };

  /** In a list a card gets another place in the order, and nothing else. */
  const dropInList = () => {
    const [only] = dragged.current ?? [];
    setDragged(undefined);
    setGuides(NO_GUIDES);
    const found = only && dropIn(studio, ...only);
    if (found) reorderBy(studio, only[0], found.by);
  };

  const drop = (event: ReactMouseEvent | MouseEvent | TouchEvent) => {
    const { places: own, shown, view } = studio.get();
    if (view.kind === "list") {
      dropInList();
      return;
    }
    const places =
      dragged.current &&
      new Map(
        [...dragged.current].map(([key, { x, y }]) => {
          const by = (shown.get(key)?.y ?? 0) - (own.get(key)?.y ?? 0);
          return [key, { x, y: y - by }] as const;
        }),
      );
    setDragged(undefined);
    setGuides(NO_GUIDES);
    if (places && !("clientX" in event && insertedInto(event, places))) {
      if (studio.get().selected.every((key) => !places.has(key))) studio.select([...places.keys()]);
      moveTo(studio, places);
    }
  };

  const onConnectEnd: OnConnectEnd = (event, connection) => {
    markConnecting(false);
    const at = "changedTouches" in event ? event.changedTouches[0] : event;
    const from = connection.fromNode?.id;
    if (connection.isValid || !at || from === undefined) return;
    const under = document.elementFromPoint(at.clientX, at.clientY);
    const node = under?.closest(".react-flow__node")?.getAttribute("data-id");
    const port = connection.fromHandle?.id ?? undefined;
    const isBack = connection.fromHandle?.type === "target";
    if (node && node !== from) {
      if (isBack) connectTo(studio, node, undefined, from);
      else connectTo(studio, from, port, node);
      return;
    }
    if (!under?.closest(".react-flow__pane")) return;
    const place = real(flow.screenToFlowPosition({ x: at.clientX, y: at.clientY }));
    const how = isBack
      ? { before: { key: from, port: "Done" }, at: { x: place.x - WIDTH, y: place.y - HEIGHT / 2 } }
      : { after: { key: from, port: port ?? "Done" }, at: { x: place.x, y: place.y - HEIGHT / 2 } };
    if (studio.get().view.kind === "machine") addState(studio, undefined, how);
    else studio.set({ adding: { screen: { x: at.clientX, y: at.clientY }, how } });
  };

  const onDrop = (event: DragEvent) => {
    const type = studio.types.get(event.dataTransfer.getData(DRAGGED));
    if (!type) return;
    event.preventDefault();
    const under = lineUnder(event);
    const line = studio.get().view.lines.find((one) => one.id === under);
    addType(studio, type, { at: centred(event), ...(line ? { line: { line, port: "Done" } } : {}) });
  };

  const onEdgeDoubleClick: EdgeMouseHandler<WireEdge> = (event, edge) => {
    const line = edge.data?.line;
    if (!line) return;
    const screen = { x: event.clientX, y: event.clientY };
    studio.set({ adding: { screen, how: { line: { line, port: "Done" }, at: centred(event) } } });
  };

  const onEdgeClick: EdgeMouseHandler<WireEdge> = (_, edge) => studio.select([], [edge.id]);

  const onReconnect: OnReconnect<WireEdge> = (edge, made) => {
    if (!edge.data) return;
    const ends = { source: made.source, port: made.sourceHandle ?? "Done", target: made.target };
    studio.do(reconnect(studio.get().index, studio.get().view, edge.data.line, ends, w.did.reconnect));
  };

  /** One of many that are selected is selected alone by a click, as anywhere else. */
  const onNodeClick: NodeMouseHandler<CardNode> = (event, node) => {
    const isMore = event.shiftKey || event.ctrlKey || event.metaKey;
    if (!isMore && studio.get().selected.length > 1) studio.select([node.id]);
  };

  const onNodeDoubleClick: NodeMouseHandler<CardNode> = (_, node) => {
    const first = node.data.card.chips[0];
    if (first) studio.open(first.page);
    else studio.set({ over: "right" });
  };

  return {
    onNodesChange,
    onNodeDragStart: (_: unknown, node: CardNode) => {
      grabbed = node.id;
    },
    onNodeDragStop: drop,
    onSelectionDragStop: drop,
    onConnectStart: () => void markConnecting(true),
    onConnect: (made: Connection) =>
      connectTo(studio, made.source, made.sourceHandle ?? undefined, made.target),
    onConnectEnd,
    onReconnect,
    onEdgeClick,
    onEdgeDoubleClick,
    onNodeClick,
    onNodeDoubleClick,
    onPaneClick: () => studio.select([]),
    onDragOver: (event: DragEvent) => {
      if (event.dataTransfer.types.includes(DRAGGED)) event.preventDefault();
    },
    onDrop,
  };
}
