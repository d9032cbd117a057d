import type { Index } from "../../model/activities";
import { HEIGHT, WIDTH } from "../../model/layout";
import type { Size } from "../../model/room";
import { type Page, type PageView, type Point, viewOf } from "../../model/view";
import { cardOf, stateCard } from "./cards";

/** What is inside is drawn smaller than what is around it. */
const SCALE = 0.68;
export const EDGE = 12;
/** The line above each place, with its name. */
const HEAD = 22;
/** Between the card and its inside there is the row of chips. */
const BELOW = 8;

export const shrunk = (value: number): number => Math.round(value * SCALE);

export type PlacesIn = (index: Index, view: PageView) => ReadonlyMap<string, Point>;

export interface Small extends Size {
  view: PageView;
  places: ReadonlyMap<string, Point>;
}

/** A page as it is drawn below a card. */
export function smallPage(index: Index, page: Page, placesIn: PlacesIn): Small {
  const view = viewOf(index, page);
  const all = [...placesIn(index, view)];
  const left = Math.min(...all.map(([, at]) => at.x));
  const top = Math.min(...all.map(([, at]) => at.y));
  const places = new Map(
    all.map(([key, at]) => [key, { x: shrunk(at.x - left) + EDGE, y: shrunk(at.y - top) + EDGE }] as const),
  );
  return {
    view,
    places,
    width: Math.max(0, ...[...places.values()].map((at) => at.x)) + shrunk(WIDTH) + EDGE,
    height: Math.max(0, ...[...places.values()].map((at) => at.y)) + shrunk(HEIGHT) + EDGE,
  };
}

/** How much room the insides of the opened cards of a page take below them. */
export function insidesOf(
  index: Index,
  view: PageView,
  opened: ReadonlySet<string>,
  placesIn: PlacesIn,
): ReadonlyMap<string, Size> {
  const sizes = new Map<string, Size>();
  for (const item of view.items) {
    if (!opened.has(item.key)) continue;
    const { entry } = item;
    const card = entry
      ? cardOf(entry, index.type(entry))
      : stateCard(item, view.inside ?? {}, view.key ?? "");
    const pages = card.chips.map((chip) => smallPage(index, chip.page, placesIn));
    sizes.set(item.key, {
      width: Math.max(0, ...pages.map((one) => one.width)),
      height: pages.reduce((sum, one) => sum + one.height + HEAD, BELOW),
    });
  }
  return sizes;
}
