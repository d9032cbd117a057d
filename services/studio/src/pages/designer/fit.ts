import { getViewportForBounds, type ReactFlowInstance, type Rect, type Viewport } from "@xyflow/react";
import { HEIGHT, WIDTH } from "../../model/layout";
import { heightOf } from "./cards";
import type { Studio } from "./store";

/** The farthest view: hundreds of activities in a row are seen at once. */
export const ZOOM_MIN = 0.01;
/** Below this a page that opens would be marks without words: it opens at its beginning instead. */
export const READABLE = 0.35;
const NEAR = 0.75;

interface Size {
  width: number;
  height: number;
}

/** How a page opens: all of it, or where that would be too small, its beginning. */
export function opening(bounds: Rect, first: { x: number; y: number }, { width, height }: Size): Viewport {
  const whole = getViewportForBounds(bounds, width, height, ZOOM_MIN, 1, 0.12);
  if (whole.zoom >= READABLE) return whole;
  return { x: 48 - first.x * NEAR, y: height / 2 - first.y * NEAR, zoom: NEAR };
}

/** Whether a page opens with its beginning only. */
export const isCut = (bounds: Rect, { width, height }: Size): boolean =>
  width > 0 && height > 0 && getViewportForBounds(bounds, width, height, ZOOM_MIN, 1, 0.12).zoom < READABLE;

/** Where the canvas must stand so that the page is seen. */
function viewportFor(studio: Studio, isFirst: boolean): Viewport | undefined {
  const box = document.getElementById("designer-canvas")?.getBoundingClientRect();
  const { index, view, shown: places } = studio.get();
  if (!box) return undefined;
  // The first activity is put at the origin.
  if (places.size === 0) return { x: (box.width - WIDTH) / 2, y: (box.height - HEIGHT) / 2, zoom: 1 };
  const all = [...places];
  const left = Math.min(...all.map(([, at]) => at.x));
  const top = Math.min(...all.map(([, at]) => at.y));
  const right = Math.max(...all.map(([, at]) => at.x + WIDTH));
  const bottom = Math.max(...all.map(([key, at]) => at.y + heightOf(index, key)));
  const bounds = { x: left, y: top, width: right - left, height: bottom - top };
  if (!isFirst) return getViewportForBounds(bounds, box.width, box.height, ZOOM_MIN, 1, 0.12);
  const targets = new Set(view.lines.map((line) => line.to));
  const starts = all.filter(([key]) => !targets.has(key));
  const [, first] = (starts.length > 0 ? starts : all).reduce((one, other) =>
    other[1].x < one[1].x ? other : one,
  );
  return opening(bounds, first, box);
}

export type Shown = Pick<ReactFlowInstance, "setViewport">;

export function showAll(studio: Studio, flow: Shown, isFirst = false): void {
  const viewport = viewportFor(studio, isFirst);
  if (viewport) void flow.setViewport(viewport, { duration: isFirst ? 0 : 150 });
}

/** Moves the canvas to what is selected, if none of it is seen; or if none is seen as a whole. */
export function showSelected(
  studio: Studio,
  flow: Shown & Pick<ReactFlowInstance, "getViewport">,
  isWhole = false,
): void {
  const box = document.getElementById("designer-canvas")?.getBoundingClientRect();
  const { index, selected, shown } = studio.get();
  const { x, y, zoom } = flow.getViewport();
  const places = selected.flatMap((key) => {
    const at = shown.get(key);
    return at ? [{ at, height: heightOf(index, key) }] : [];
  });
  const [first] = places;
  if (!box || !first) return;
  const isSeen = places.some(({ at, height }) => {
    const [left, top] = [at.x * zoom + x, at.y * zoom + y];
    const [right, bottom] = [left + WIDTH * zoom, top + height * zoom];
    if (isWhole) return left >= 0 && top >= 0 && right <= box.width && bottom <= box.height;
    return left < box.width && right > 0 && top < box.height && bottom > 0;
  });
  if (isSeen) return;
  const [middle, line] = [first.at.x + WIDTH / 2, first.at.y + first.height / 2];
  const viewport = { x: box.width / 2 - middle * zoom, y: box.height / 2 - line * zoom, zoom };
  void flow.setViewport(viewport, { duration: 150 });
}
