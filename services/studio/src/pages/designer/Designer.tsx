import { useBlocker } from "@tanstack/react-router";
import { ReactFlowProvider, useReactFlow } from "@xyflow/react";
import { useEffect, useState } from "react";
import { can } from "../../api/session";
import { place } from "../../app/place";
import { holdUnsaved } from "../../app/unsaved";
import { membersOf, textOf } from "../../model/json";
import { followDrops } from "../../ui/drops";
import { preloadWhenIdle } from "../../ui/later";
import { AddMenu } from "./AddMenu";
import { followAddress } from "./address";
import { Canvas } from "./Canvas";
import { ConflictDialog } from "./ConflictDialog";
import { isChanged } from "./changed";
import { followChanges } from "./checking";
import { Code } from "./code/Code";
import { ConnectDialog, KeysDialog, LeaveDialog } from "./dialogs";
import { Drawer, TextTab } from "./drawer/Drawer";
import "./designer.css";
import { GoneDialog } from "./GoneDialog";
import { Inspector } from "./Inspector";
import { isTyping, leftInspector, listenToClipboard, pressed } from "./keys";
import { OlderDialog } from "./OlderDialog";
import { Palette } from "./Palette";
import { Panel } from "./Panel";
import { PublishDialog } from "./PublishDialog";
import { PublishPanel } from "./PublishPanel";
import { RunBar } from "./RunBar";
import { RunDialog } from "./RunDialog";
import { useSaving } from "./saving";
import { SAVING, type Studio, StudioContext, useStudio, useView } from "./store";
import { Toolbar } from "./Toolbar";
import { Tree } from "./Tree";
import { w } from "./words";

function Left() {
  const studio = useStudio();
  const left = useView((state) => state.left);
  return (
    <Panel
      name="left"
      id="designer-left"
      label={w[left]}
      className="flex shrink-0 flex-col border-r border-line bg-raised"
    >
      <div role="tablist" className="flex shrink-0 border-b border-line px-1">
        {(studio.isLocked ? (["tree"] as const) : (["palette", "tree"] as const)).map((one) => (
          <button
            key={one}
            type="button"
            role="tab"
            aria-selected={one === left}
            onClick={() => studio.set({ left: one })}
            className={`-mb-px h-9 border-b-2 px-3 text-sm ${one === left ? "border-accent font-medium" : "border-transparent text-soft hover:text-ink"}`}
          >
            {w[one]}
          </button>
        ))}
      </div>
      {left === "palette" && !studio.isLocked ? <Palette /> : <Tree />}
    </Panel>
  );
}

type Asked = "run" | "publish" | "keys" | "connect" | undefined;

function Frame() {
  const studio = useStudio();
  const flow = useReactFlow();
  const saving = useSaving(studio);
  const isDirty = useView(isChanged);
  const run = useView((state) => state.run?.id);
  const first = useView((state) => state.selected[0]);
  const isReadonly = useView((state) => membersOf(state.history.doc)?.isReadonly === true);
  const isOlder = useView((state) => state.newer !== undefined);
  const [asked, setAsked] = useState<Asked>();
  const name = useView((state) => textOf(membersOf(state.saved)?.name) || undefined);
  useEffect(() => () => place.move(undefined), []);
  useEffect(() => {
    place.call(name);
    return () => place.call(undefined);
  }, [name]);
  // Its editors are there when the connection is not.
  useEffect(() => void preloadWhenIdle([TextTab.preload, Code.preload]), []);
  useEffect(() => listenToClipboard(studio), [studio]);
  useEffect(() => followDrops(window, {}), []);
  useEffect(() => followAddress(studio), [studio]);
  useEffect(() => (can(SAVING) ? followChanges(studio) : undefined), [studio]);
  const isUnsaved = () => studio.isUnsaved();
  useEffect(
    () =>
      holdUnsaved(() => {
        if (!studio.isUnsaved()) return undefined;
        const doc = membersOf(studio.get().history.doc) ?? {};
        return { name: textOf(doc.name) || textOf(doc.definitionId) };
      }),
    [studio],
  );
  const leaving = useBlocker({
    shouldBlockFn: isUnsaved,
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  });
  useEffect(() => {
    const deeds = {
      save: () => {
        if (!studio.isLocked) void saving.save();
      },
      publish: () => {
        const mayNot = studio.isLocked || membersOf(studio.get().history.doc)?.isReadonly === true;
        if (!mayNot) setAsked("publish");
      },
      run: () => {
        if (can("exec:workflow-definitions")) setAsked("run");
      },
      tryOut: () => {
        if (can("exec:tests")) studio.set({ drawer: "trial" });
      },
      help: () => setAsked("keys"),
      connect: () => {
        const { selected, view } = studio.get();
        if (!studio.isLocked && selected.length > 0 && (view.kind === "flow" || view.kind === "machine"))
          setAsked("connect");
      },
    };
    const key = (event: KeyboardEvent) => {
      const isSave = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s";
      if (document.querySelector("dialog[open]")) return;
      if (leftInspector(event, studio)) return event.preventDefault();
      if (isTyping(event.target) && !isSave) return;
      const button =
        event.target instanceof HTMLElement && event.target.closest("button, a, [role=tab], summary");
      if (button && (event.key === "Enter" || event.key === " ")) return;
      if (pressed(event, studio, flow, deeds)) event.preventDefault();
    };
    document.addEventListener("keydown", key);
    return () => document.removeEventListener("keydown", key);
  }, [studio, flow, saving]);
  return (
    <div className="designer flex h-full min-h-0 flex-col">
      <h1 className="sr-only">{w.designer}</h1>
      <Toolbar
        saving={saving}
        isDirty={isDirty}
        onPublish={() => setAsked("publish")}
        onRun={() => setAsked("run")}
        onHelp={() => setAsked("keys")}
      />
      {studio.isLocked && (
        <p role="status" className="border-b border-line bg-sunken px-3 py-1 text-sm text-waiting">
          {w.mayNotSave(SAVING)}
        </p>
      )}
      {isReadonly && !studio.isLocked && (
        <p className="border-b border-line bg-sunken px-3 py-1 text-sm text-waiting">{w.readonly}</p>
      )}
      {isOlder && !isReadonly && !studio.isLocked && (
        <p className="border-b border-line bg-sunken px-3 py-1 text-sm text-waiting">{w.olderNote}</p>
      )}
      <div className="relative flex min-h-0 flex-1">
        <Left />
        <div className="flex min-w-0 flex-1 flex-col">
          <section
            id="designer-canvas"
            tabIndex={-1}
            aria-label={w.canvas}
            className="relative min-h-0 flex-1 outline-none"
          >
            <p className="sr-only">{w.canvasKeys}</p>
            {run && <RunBar key={run} instance={run} />}
            <Canvas />
          </section>
          <Drawer />
        </div>
        <Panel
          name="right"
          id="designer-inspector"
          label={w.inspector}
          className="relative shrink-0 overflow-auto border-l border-line bg-raised"
        >
          <Inspector />
        </Panel>
      </div>
      <AddMenu />
      {asked === "run" && <RunDialog saving={saving} onClose={() => setAsked(undefined)} />}
      {asked === "publish" && (
        <PublishDialog onPublish={() => void saving.publish()} onClose={() => setAsked(undefined)} />
      )}
      {leaving.status === "blocked" && <LeaveDialog onLeave={leaving.proceed} onClose={leaving.reset} />}
      {asked === "keys" && <KeysDialog onClose={() => setAsked(undefined)} />}
      {asked === "connect" && first !== undefined && (
        <ConnectDialog
          from={first}
          onClose={() => {
            setAsked(undefined);
            requestAnimationFrame(() => document.getElementById("designer-canvas")?.focus());
          }}
        />
      )}
      {saving.publication && (
        <PublishPanel publication={saving.publication} onClose={() => saving.setPublication(undefined)} />
      )}
      {saving.older && (
        <OlderDialog
          latest={saving.older.latest}
          saving={saving}
          onClose={() => saving.setOlder(undefined)}
        />
      )}
      {saving.gone && <GoneDialog saving={saving} onClose={() => saving.setGone(undefined)} />}
      {saving.conflict && (
        <ConflictDialog
          theirs={saving.conflict}
          saving={saving}
          onClose={() => saving.setConflict(undefined)}
        />
      )}
    </div>
  );
}

export function Designer({ studio }: { studio: Studio }) {
  return (
    <StudioContext.Provider value={studio}>
      <ReactFlowProvider>
        <Frame />
      </ReactFlowProvider>
    </StudioContext.Provider>
  );
}
