import { useReactFlow } from "@xyflow/react";
import { can } from "../../api/session";
import { idOf, nameOf, slotsOf } from "../../model/activities";
import { membersOf, textOf } from "../../model/json";
import { crumbsOf } from "../../model/view";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Menu } from "../../ui/Menu";
import { slotWord } from "./cards";
import {
  alignSelected,
  arrangeAll,
  copySelected,
  duplicateSelected,
  pasteText,
  removeSelected,
  wrapSelected,
} from "./deeds";
import { showAll } from "./fit";
import type { Saving } from "./saving";
import { useStudio, useView } from "./store";
import { w } from "./words";

function Crumbs() {
  const studio = useStudio();
  const index = useView((state) => state.index);
  const page = useView((state) => state.page);
  const name = useView((state) => textOf(membersOf(state.history.doc)?.name)) || w.workflow;
  const crumbs = crumbsOf(index, page);
  return (
    <nav aria-label={w.workflow} className="flex min-w-0 items-center gap-1 overflow-x-auto text-sm">
      {crumbs.map((crumb, at) => {
        const entry = crumb.key === undefined ? undefined : index.get(crumb.key);
        const slot =
          entry && crumb.slot
            ? slotsOf(entry.activity, index.type(entry)).find((one) => one.slot === crumb.slot)
            : undefined;
        const word = !entry
          ? name
          : `${nameOf(entry.activity, index.type(entry))}${slot ? ` · ${slotWord(slot)}` : ""}`;
        const isHere = at === crumbs.length - 1;
        return (
          <span key={`${crumb.page.owner} ${crumb.page.slot}`} className="flex items-center gap-1">
            {at > 0 && <span className="text-soft">›</span>}
            <button
              type="button"
              aria-current={isHere ? "page" : undefined}
              onClick={() => studio.open(crumb.page, entry ? [idOf(entry.activity)] : [])}
              className={`max-w-64 truncate rounded-sm px-1 py-0.5 hover:bg-sunken ${isHere ? "font-semibold" : "text-soft"}`}
            >
              {word}
            </button>
          </span>
        );
      })}
    </nav>
  );
}

function Standing({ isDirty }: { isDirty: boolean }) {
  const saved = useView((state) => state.saved);
  const held = membersOf(saved);
  const version = Number(held?.version ?? 0);
  const word = !held ? w.notSaved : held.isPublished === true ? w.publishedOf(version) : w.draftOf(version);
  return (
    <p role="status" className="hidden shrink-0 items-center gap-1.5 text-xs text-soft lg:flex">
      {word}
      {isDirty && held && (
        <span className="flex items-center gap-1 text-waiting">
          <span aria-hidden="true" className="size-1.5 rounded-full bg-waiting" />
          {w.unsaved}
        </span>
      )}
    </p>
  );
}

interface Props {
  saving: Saving;
  isDirty: boolean;
  onPublish: () => void;
  onRun: () => void;
  onHelp: () => void;
}

const ALIGNMENTS = ["left", "center", "right", "top", "middle", "bottom", "across", "down"] as const;

/** What can be done with the whole workflow. */
export function Toolbar({ saving, isDirty, onPublish, onRun, onHelp }: Props) {
  const studio = useStudio();
  const flow = useReactFlow();
  const past = useView((state) => state.history.past);
  const future = useView((state) => state.history.future);
  const count = useView((state) => state.selected.length);
  const isFlow = useView((state) => state.view.kind === "flow" || state.view.kind === "machine");
  const isReadonly = useView((state) => membersOf(state.history.doc)?.isReadonly === true);
  const left = useView((state) => state.left);
  const over = useView((state) => state.over);
  const isMac = /Mac/.test(navigator.platform);
  return (
    <div
      role="toolbar"
      aria-label={w.designer}
      className="flex min-h-11 shrink-0 flex-wrap items-center gap-x-2 gap-y-1 border-b border-line bg-raised px-3 py-1"
    >
      <Crumbs />
      <div className="flex-1" />
      <Standing isDirty={isDirty} />
      {!studio.isLocked && (
        <div className="flex items-center">
          <Button
            tone="quiet"
            disabled={past.length === 0}
            title={isMac ? "⌘Z" : `${t.control} Z`}
            aria-label={w.undo(past.at(-1)?.label ?? w.nothing)}
            onClick={() => studio.undo()}
            className="!w-8 !px-0"
          >
            <span aria-hidden="true">↶</span>
          </Button>
          <Button
            tone="quiet"
            disabled={future.length === 0}
            title={isMac ? "⇧⌘Z" : `${t.control} Y`}
            aria-label={w.redo(future[0]?.label ?? w.nothing)}
            onClick={() => studio.redo()}
            className="!w-8 !px-0"
          >
            <span aria-hidden="true">↷</span>
          </Button>
        </div>
      )}
      {/* In a wide window both panels are beside the canvas. */}
      {(["left", "right"] as const).map((one) => (
        <Button
          key={one}
          className="md:hidden"
          aria-expanded={over === one}
          aria-controls={one === "left" ? "designer-left" : "designer-inspector"}
          onClick={() => studio.set({ over: over === one ? undefined : one })}
        >
          {one === "left" ? w[left] : w.inspector}
        </Button>
      ))}
      {isFlow && !studio.isLocked && <Button onClick={() => arrangeAll(studio, flow)}>{w.layout}</Button>}
      <Menu
        label={w.more}
        items={[
          { word: w.fit, act: () => showAll(studio, flow) },
          {
            word: w.copy,
            disabled: count === 0,
            act: () => void navigator.clipboard.writeText(copySelected(studio) ?? ""),
          },
          !studio.isLocked && {
            word: w.paste,
            act: () => void navigator.clipboard.readText().then((text) => pasteText(studio, text)),
          },
          !studio.isLocked && {
            word: w.duplicate,
            disabled: count === 0,
            act: () => duplicateSelected(studio),
          },
          !studio.isLocked && {
            word: w.wrapIn("Sequence"),
            disabled: count === 0,
            act: () => wrapSelected(studio, "Elsa.Sequence"),
          },
          !studio.isLocked && {
            word: w.wrapIn("Flowchart"),
            disabled: count === 0,
            act: () => wrapSelected(studio, "Elsa.Flowchart"),
          },
          ...(count > 1 && !studio.isLocked
            ? ALIGNMENTS.map((how) => ({ word: w.alignments[how], act: () => alignSelected(studio, how) }))
            : []),
          { word: w.keysTitle, act: onHelp },
          !studio.isLocked && {
            word: w.remove,
            danger: true,
            disabled: count === 0,
            act: () => removeSelected(studio),
          },
        ]}
      />
      {!studio.isLocked && (
        <Button
          busy={saving.busy === "save"}
          disabled={!isDirty || isReadonly}
          onClick={() => void saving.save()}
        >
          {w.save}
        </Button>
      )}
      {can("exec:workflow-definitions") && (
        <Button icon="instances" onClick={onRun}>
          {w.run}
        </Button>
      )}
      {/* Who may save may save as published, too. */}
      {!studio.isLocked && (
        <Button tone="main" busy={saving.busy === "publish"} disabled={isReadonly} onClick={onPublish}>
          {w.publish}
        </Button>
      )}
    </div>
  );
}
