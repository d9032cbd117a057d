import { getViewportForBounds, type ReactFlowInstance, type Viewport } from "@xyflow/react";
import { WIDTH } from "../../model/layout";
import { heightOf } from "./cards";
import type { Studio } from "./store";

const MANY = 60;
const NEAR = 0.6;

/** Where the canvas must stand so that the page is seen; a huge page begins where it begins. */
function viewportFor(studio: Studio, isFirst: boolean): Viewport | undefined {
  const box = document.getElementById("designer-canvas")?.getBoundingClientRect();
  const { index, places } = studio.get();
  if (!box || places.size === 0) return undefined;
  const all = [...places];
  const left = Math.min(...all.map(([, at]) => at.x));
  const top = Math.min(...all.map(([, at]) => at.y));
  if (isFirst && places.size > MANY) {
    const first = all.find(([, at]) => at.x === left)?.[1];
    return { x: 40 - left * NEAR, y: box.height / 3 - (first?.y ?? 0) * NEAR, zoom: NEAR };
  }
  const right = Math.max(...all.map(([, at]) => at.x + WIDTH));
  const bottom = Math.max(...all.map(([key, at]) => at.y + heightOf(index, key)));
  const bounds = { x: left, y: top, width: right - left, height: bottom - top };
  return getViewportForBounds(bounds, box.width, box.height, 0.05, 1, 0.12);
}

export function showAll(studio: Studio, flow: Pick<ReactFlowInstance, "setViewport">, isFirst = false): void {
  const viewport = viewportFor(studio, isFirst);
  if (viewport) void flow.setViewport(viewport, { duration: isFirst ? 0 : 150 });
}
