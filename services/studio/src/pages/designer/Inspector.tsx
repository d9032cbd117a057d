import { useMemo } from "react";
import { type Entry, nameOf, typeOf } from "../../model/activities";
import { remove } from "../../model/commands";
import { type ActivityType, memberOf } from "../../model/descriptors";
import { membersOf, textOf } from "../../model/json";
import { listOfEntry } from "../../model/order";
import { Button } from "../../ui/Button";
import { Check, Field, TextArea } from "../../ui/Field";
import { cardOf } from "./cards";
import { alignSelected, duplicateSelected, removeSelected, reorderBy, wrapSelected } from "./deeds";
import { InputField } from "./editors/InputField";
import { Glyph } from "./Glyph";
import { LinePanel } from "./LinePanel";
import { Locked } from "./Locked";
import { Outputs, useSet } from "./Outputs";
import { Section } from "./Section";
import { StatePanel } from "./StatePanel";
import { useStudio, useView } from "./store";
import { TestActivity } from "./TestActivity";
import { Tried } from "./Tried";
import { WorkflowPanel } from "./WorkflowPanel";
import { w } from "./words";

function Inside({ entry, type }: { entry: Entry; type: ActivityType | undefined }) {
  const studio = useStudio();
  const { chips } = cardOf(entry, type);
  if (chips.length === 0) return null;
  return (
    <Section title={w.inside}>
      <ul className="space-y-1">
        {chips.map(({ label, page, count }) => (
          <li key={page.slot} className="flex items-center gap-2 text-sm">
            <span className="min-w-0 flex-1 truncate">{label || nameOf(entry.activity, type)}</span>
            <span className="text-xs text-soft">{count === 0 ? w.emptyPort : w.activities(count)}</span>
            <Button
              onClick={() => studio.open(page)}
              aria-label={w.openSlot(label || w.inside, nameOf(entry.activity, type))}
            >
              {w.open}
            </Button>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function ActivitySettings({ entry, type }: { entry: Entry; type: ActivityType | undefined }) {
  const set = useSet(entry);
  const { activity } = entry;
  const custom = membersOf(activity.customProperties);
  const flag = (name: string) =>
    (custom?.[name] ?? custom?.[name.charAt(0).toUpperCase() + name.slice(1)] ?? activity[name]) === true;
  const setFlag = (name: string, value: boolean) => {
    const upper = name.charAt(0).toUpperCase() + name.slice(1);
    const path =
      custom && name in custom
        ? ["customProperties", name]
        : custom && upper in custom
          ? ["customProperties", upper]
          : name in activity
            ? [name]
            : ["customProperties", name];
    set(path, value);
  };
  return (
    <Section title={w.settings} isOpen={false}>
      <Locked>
        <Field
          label={w.activityName}
          value={textOf(activity.name)}
          onChange={(event) => set(["name"], event.target.value || undefined, w.did.rename)}
        />
        <TextArea
          label={w.description}
          rows={2}
          value={textOf(membersOf(activity.metadata)?.description)}
          onChange={(event) => set(["metadata", "description"], event.target.value || undefined)}
        />
        {type?.kind === "Trigger" && (
          <Check
            label={w.canStart}
            checked={flag("canStartWorkflow")}
            onChange={(event) => setFlag("canStartWorkflow", event.target.checked)}
          />
        )}
        {type?.kind === "Task" && (
          <Check
            label={w.background}
            checked={flag("runAsynchronously")}
            onChange={(event) => setFlag("runAsynchronously", event.target.checked)}
          />
        )}
      </Locked>
      <p className="text-xs text-soft">
        {w.activityId}: <code className="font-mono break-all select-all">{entry.key}</code>
      </p>
    </Section>
  );
}

function ActivityPanel({ entry }: { entry: Entry }) {
  const set = useSet(entry);
  const studio = useStudio();
  const index = useView((state) => state.index);
  const problems = useView((state) => state.problems);
  const found = useView((state) => state.found);
  const isReadonly = useView((state) => membersOf(state.history.doc)?.isReadonly === true);
  const type = index.type(entry);
  const list = useMemo(() => listOfEntry(index, entry.key), [index, entry.key]);
  const at = list.findIndex((one) => one.key === entry.key);
  const inputs = useMemo(
    () =>
      (type?.inputs ?? []).filter((input) => input.isBrowsable).sort((one, other) => one.order - other.order),
    [type],
  );
  const groups = [...new Set(inputs.map((input) => input.category ?? ""))];
  const general = [...problems, ...found].filter(
    (one) => one.key === entry.key && !inputs.some((input) => memberOf(input.name) === one.member),
  );
  return (
    <>
      <header className="border-b border-line px-3 py-2">
        <Locked className="">
          <div className="flex items-center gap-2 text-xs text-soft">
            <Glyph of={cardOf(entry, type).glyph} size={16} />
            <span className="min-w-0 flex-1 truncate">{type?.displayName ?? typeOf(entry.activity)}</span>
            {list.length > 1 && (
              <>
                <Button
                  tone="quiet"
                  icon="up"
                  label={w.moveUp}
                  disabled={isReadonly || at <= 0}
                  onClick={() => reorderBy(studio, entry.key, -1)}
                />
                <Button
                  tone="quiet"
                  icon="down"
                  label={w.moveDown}
                  disabled={isReadonly || at === list.length - 1}
                  onClick={() => reorderBy(studio, entry.key, 1)}
                />
              </>
            )}
            <Button tone="quiet" icon="copy" label={w.duplicate} onClick={() => duplicateSelected(studio)} />
            <Button tone="quiet" icon="bin" label={w.remove} onClick={() => removeSelected(studio)} />
          </div>
          <Field
            label={w.displayText}
            value={textOf(membersOf(entry.activity.metadata)?.displayText)}
            placeholder={nameOf(entry.activity, type)}
            onChange={(event) =>
              set(["metadata", "displayText"], event.target.value || undefined, w.did.rename)
            }
          />
        </Locked>
        {type?.description && <p className="mt-2 text-xs text-soft">{type.description}</p>}
        {general.map((problem) => (
          <p
            key={w.fault(problem.fault)}
            role="alert"
            className={`mt-2 text-xs ${problem.isWarning ? "text-waiting" : "text-faulted"}`}
          >
            {w.fault(problem.fault)}
          </p>
        ))}
      </header>
      <Inside entry={entry} type={type} />
      {inputs.length > 0 &&
        groups.map((group) => (
          <Section key={group} title={group || w.inputs}>
            {inputs
              .filter((input) => (input.category ?? "") === group)
              .map((input) => (
                <Locked key={input.name}>
                  <InputField entry={entry} input={input} />
                </Locked>
              ))}
          </Section>
        ))}
      {type && <Outputs entry={entry} type={type} />}
      <ActivitySettings entry={entry} type={type} />
      <Tried key={`tried ${entry.key}`} activity={entry.key} />
      <TestActivity activity={entry.key} />
    </>
  );
}

const ALIGNMENTS = ["left", "center", "right", "top", "middle", "bottom", "across", "down"] as const;

function ManyPanel({ count }: { count: number }) {
  const studio = useStudio();
  const isFlow = useView((state) => state.view.kind === "flow");
  const isMachine = useView((state) => state.view.kind === "machine");
  return (
    <div className="space-y-3 p-3">
      <h2 className="text-sm font-semibold">{isMachine ? w.selectedStates(count) : w.selectedMany(count)}</h2>
      {isFlow && (
        <div className="space-y-1">
          <p className="text-xs font-medium text-soft">{w.alignWord}</p>
          {ALIGNMENTS.map((how) => (
            <Button
              key={how}
              tone="quiet"
              className="w-full !justify-start"
              onClick={() => alignSelected(studio, how)}
            >
              {w.alignments[how]}
            </Button>
          ))}
        </div>
      )}
      <div className="flex flex-wrap gap-2">
        <Button onClick={() => duplicateSelected(studio)}>{w.duplicate}</Button>
        {!isMachine && (
          <>
            <Button onClick={() => wrapSelected(studio, "Elsa.Sequence")}>{w.wrapIn("Sequence")}</Button>
            <Button onClick={() => wrapSelected(studio, "Elsa.Flowchart")}>{w.wrapIn("Flowchart")}</Button>
          </>
        )}
        <Button tone="danger" onClick={() => removeSelected(studio)}>
          {w.remove}
        </Button>
      </div>
    </div>
  );
}

/** What is selected, and how to change it. */
export function Inspector() {
  const studio = useStudio();
  const index = useView((state) => state.index);
  const view = useView((state) => state.view);
  const selected = useView((state) => state.selected);
  const lines = useView((state) => state.lines);
  const entry = selected.length === 1 && selected[0] !== undefined ? index.get(selected[0]) : undefined;
  const state = view.items.find((item) => item.key === selected[0] && item.state);
  const line = view.lines.find((one) => one.id === lines[0]);
  if (selected.length > 1)
    return (
      <Locked>
        <ManyPanel count={selected.length} />
      </Locked>
    );
  if (entry) return <ActivityPanel key={entry.key} entry={entry} />;
  if (state) return <StatePanel key={state.key} item={state} view={view} />;
  if (line)
    return (
      <LinePanel
        key={line.id}
        line={line}
        onRemove={() => studio.do(remove(index, view, [], [line.id], w.removeLine))}
      />
    );
  return (
    <Locked>
      <WorkflowPanel />
    </Locked>
  );
}
