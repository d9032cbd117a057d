import { getViewportForBounds, type ReactFlowInstance, type Viewport } from "@xyflow/react";
import { WIDTH } from "../../model/layout";
import { heightOf } from "./cards";
import type { Studio } from "./store";

/** Below this nothing can be read: the page opens at its beginning instead. */
const READABLE = 0.55;
const NEAR = 0.75;

/** Where the canvas must stand so that the page is seen. */
function viewportFor(studio: Studio, isFirst: boolean): Viewport | undefined {
  const box = document.getElementById("designer-canvas")?.getBoundingClientRect();
  const { index, view, places } = studio.get();
  if (!box || places.size === 0) return undefined;
  const all = [...places];
  const left = Math.min(...all.map(([, at]) => at.x));
  const top = Math.min(...all.map(([, at]) => at.y));
  const right = Math.max(...all.map(([, at]) => at.x + WIDTH));
  const bottom = Math.max(...all.map(([key, at]) => at.y + heightOf(index, key)));
  const bounds = { x: left, y: top, width: right - left, height: bottom - top };
  const whole = getViewportForBounds(bounds, box.width, box.height, 0.05, 1, 0.12);
  if (!isFirst || whole.zoom >= READABLE) return whole;
  const targets = new Set(view.lines.map((line) => line.to));
  const starts = all.filter(([key]) => !targets.has(key));
  const [, first] = (starts.length > 0 ? starts : all).reduce((one, other) =>
    other[1].x < one[1].x ? other : one,
  );
  return { x: 48 - first.x * NEAR, y: box.height / 2 - first.y * NEAR, zoom: NEAR };
}

export function showAll(studio: Studio, flow: Pick<ReactFlowInstance, "setViewport">, isFirst = false): void {
  const viewport = viewportFor(studio, isFirst);
  if (viewport) void flow.setViewport(viewport, { duration: isFirst ? 0 : 150 });
}
