/** The panels of the designer whose sizes can be changed. */
export type PanelName = "left" | "right" | "drawer";

export interface Bounds {
  min: number;
  max: number;
  /** The size before somebody has chosen one. */
  usual: number;
}

export interface Room {
  width: number;
  height: number;
}

const STORE = "staunch.designer.sizes";
const PANELS: readonly PanelName[] = ["left", "right", "drawer"];
const STEP = 16;
const DRAWER_LEAST = 224;
/** What the bars above the canvas and a bit of the canvas need beside the drawer. */
const ABOVE_DRAWER = 280;

export const bounded = (size: number, { min, max }: Pick<Bounds, "min" | "max">): number =>
  Math.round(Math.min(max, Math.max(min, size)));

/** How small and how large a panel can be in a window; the rail of pages and a part of the canvas stay. */
export function boundsOf(panel: PanelName, { width, height }: Room): Bounds {
  switch (panel) {
    case "left":
      return { min: 160, max: bounded(width * 0.28, { min: 224, max: 560 }), usual: 224 };
    case "right":
      return {
        min: 224,
        max: bounded(width * 0.36, { min: 256, max: 800 }),
        usual: width < 1024 ? 256 : 320,
      };
    case "drawer": {
      const max = Math.max(DRAWER_LEAST, height - ABOVE_DRAWER);
      return { min: 128, max, usual: bounded(height * 0.34, { min: DRAWER_LEAST, max }) };
    }
  }
}

/** Which way a panel grows along its axis: those that come after the canvas grow towards the beginning. */
export const growth = (panel: PanelName): 1 | -1 => (panel === "left" ? 1 : -1);

/** The size that a key of a separator leads to; none for other keys. */
export function sizeAfter(key: string, panel: PanelName, size: number, bounds: Bounds): number | undefined {
  if (key === "Home") return bounds.min;
  if (key === "End") return bounds.max;
  const [back, on] = panel === "drawer" ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
  if (key !== back && key !== on) return undefined;
  return bounded(size + (key === on ? STEP : -STEP) * growth(panel), bounds);
}

export type Sizes = Partial<Record<PanelName, number>>;

/** The sizes that this browser keeps; what is no size is none. */
export function readSizes(): Sizes {
  try {
    const held: unknown = JSON.parse(localStorage.getItem(STORE) ?? "{}");
    if (typeof held !== "object" || held === null) return {};
    const sizes: Sizes = {};
    for (const panel of PANELS) {
      const size = (held as Record<string, unknown>)[panel];
      if (typeof size === "number" && size >= 1 && size <= 10_000) sizes[panel] = Math.round(size);
    }
    return sizes;
  } catch {
    return {};
  }
}

/** Keeps the size of a panel; without one, it has the usual size again. */
export function writeSize(panel: PanelName, size: number | undefined): void {
  try {
    localStorage.setItem(STORE, JSON.stringify({ ...readSizes(), [panel]: size }));
  } catch {
    // A browser that keeps nothing shows the usual sizes the next time.
  }
}
