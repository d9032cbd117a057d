import type { Search } from "./filters";

/** Filters under a name, kept in this browser. */
export interface SavedView {
  name: string;
  search: Search;
}

const STORE = "staunch.views";
const VIEWS_MAX = 50;
export const NAME_MAX = 60;

/** What is kept: what is no list of views is none. */
export function readViews(store: Pick<Storage, "getItem">): SavedView[] {
  try {
    const held: unknown = JSON.parse(store.getItem(STORE) ?? "[]");
    if (!Array.isArray(held)) return [];
    return held.flatMap((one: unknown): SavedView[] => {
      if (typeof one !== "object" || one === null) return [];
      const { name, search } = one as { name?: unknown; search?: unknown };
      if (typeof name !== "string" || typeof search !== "object" || search === null) return [];
      const texts = Object.entries(search).filter(([, value]) => typeof value === "string");
      return [{ name, search: Object.fromEntries(texts) as Search }];
    });
  } catch {
    return [];
  }
}

/** Keeps a view under its name, as the last one; one with the same name is replaced. */
export function withView(views: readonly SavedView[], view: SavedView): SavedView[] {
  const name = view.name.trim().slice(0, NAME_MAX);
  if (!name) return [...views];
  return [...views.filter((one) => one.name !== name), { ...view, name }].slice(-VIEWS_MAX);
}

export const withoutView = (views: readonly SavedView[], name: string): SavedView[] =>
  views.filter((one) => one.name !== name);

export function writeViews(store: Pick<Storage, "setItem">, views: readonly SavedView[]): void {
  store.setItem(STORE, JSON.stringify(views));
}
