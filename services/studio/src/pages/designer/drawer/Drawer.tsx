import { can } from "../../../api/session";
import { Button } from "../../../ui/Button";
import { later } from "../../../ui/later";
import { Loading } from "../../../ui/States";
import { Tabs } from "../../../ui/Tabs";
import { Locked } from "../Locked";
import { Panel } from "../Panel";
import { type DrawerTab, useStudio, useView } from "../store";
import { w } from "../words";
import { Cases } from "./Cases";
import { Data } from "./Data";
import { Problems } from "./Problems";
import { Runs } from "./Runs";
import { TestRun } from "./TestRun";
import { Versions } from "./Versions";

export const TextTab = later(
  async () => (await import("./TextTab")).default,
  () => <Loading rows={8} />,
);

const TABS: readonly DrawerTab[] = ["problems", "data", "text", "trial", "cases", "runs", "versions"];

const isOffered = (tab: DrawerTab) => (tab !== "trial" && tab !== "cases") || can("exec:tests");

/** What belongs to the whole workflow, below the canvas. */
export function Drawer() {
  const studio = useStudio();
  const open = useView((state) => state.drawer);
  const count = useView((state) => state.problems.length + state.found.length);
  const tabs = TABS.filter(isOffered);
  const isBad = useView((state) => [...state.problems, ...state.found].some((one) => !one.isWarning));
  if (!open) {
    return (
      <nav
        aria-label={w.drawer}
        className="flex min-h-8 shrink-0 flex-wrap items-center gap-x-1 border-t border-line bg-raised px-2"
      >
        {tabs.map((tab) => (
          <button
            key={tab}
            type="button"
            onClick={() => studio.set({ drawer: tab })}
            className="h-7 rounded-md px-2 text-xs whitespace-nowrap text-soft hover:bg-sunken hover:text-ink"
          >
            {w[tab]}
            {tab === "problems" && count > 0 && (
              <span
                className={`ml-1.5 rounded-sm px-1 text-raised tabular-nums ${isBad ? "bg-faulted" : "bg-waiting"}`}
              >
                {count}
              </span>
            )}
          </button>
        ))}
      </nav>
    );
  }
  return (
    <Panel
      name="drawer"
      id="designer-drawer"
      label={w.drawer}
      className="relative flex shrink-0 flex-col border-t border-line bg-raised max-md:h-[38%] max-md:min-h-56"
    >
      <Tabs
        label={w.drawer}
        tabs={tabs.map((tab) => ({ key: tab, word: w[tab], ...(tab === "problems" ? { count } : {}) }))}
        current={open}
        onChange={(tab) => studio.set({ drawer: tabs.find((one) => one === tab) })}
      >
        {open === "problems" && <Problems />}
        {open === "data" && (
          <Locked>
            <Data />
          </Locked>
        )}
        {open === "text" && <TextTab />}
        {open === "trial" && <TestRun />}
        {open === "cases" && <Cases />}
        {open === "runs" && <Runs />}
        {open === "versions" && <Versions />}
      </Tabs>
      <div className="absolute top-0.5 right-1">
        <Button
          tone="quiet"
          icon="down"
          label={w.hideDrawer}
          onClick={() => studio.set({ drawer: undefined })}
        />
      </div>
    </Panel>
  );
}
