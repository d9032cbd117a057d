import type { Page } from "../../model/view";
import { ROOT } from "../../model/view";
import type { DrawerTab, Studio } from "./store";

const TABS: readonly DrawerTab[] = ["problems", "data", "text", "trial", "cases", "runs", "versions"];

/** What a link says of the designer: the page, the selection and the drawer. */
export function readAddress(search: string): {
  page: Page;
  selected: string[];
  drawer: DrawerTab | undefined;
} {
  const query = new URLSearchParams(search);
  const owner = query.get("in") ?? "";
  const page = owner === "" ? ROOT : { owner, slot: query.get("slot") ?? "" };
  return { page, selected: query.getAll("select"), drawer: TABS.find((tab) => tab === query.get("drawer")) };
}

/** Keeps the address in step; the router would take it for another page, so it is not told. */
export function followAddress(studio: Studio): () => void {
  return studio.subscribe(() => {
    const { page, selected, drawer } = studio.get();
    const url = new URL(window.location.href);
    const set = (name: string, value: string | undefined) => {
      if (value) url.searchParams.set(name, value);
      else url.searchParams.delete(name);
    };
    set("in", page.owner || undefined);
    set("slot", page.owner ? page.slot : undefined);
    set("drawer", drawer);
    url.searchParams.delete("select");
    for (const key of selected.slice(0, 5)) url.searchParams.append("select", key);
    if (url.href === window.location.href) return;
    History.prototype.replaceState.call(window.history, window.history.state, "", url);
  });
}
