import { nameOf } from "../../model/activities";
import { reconnect, setMember } from "../../model/commands";
import { type Json, membersOf, textOf } from "../../model/json";
import { outcomesOf } from "../../model/outcomes";
import { valueAt } from "../../model/patch";
import type { Line } from "../../model/view";
import { Button } from "../../ui/Button";
import { Field, Select } from "../../ui/Field";
import { Expression } from "./editors/Expression";
import { Locked } from "./Locked";
import { useStudio, useView } from "./store";
import { w } from "./words";

/** A line between two activities, or a transition between two states. */
export function LinePanel({ line, onRemove }: { line: Line; onRemove: () => void }) {
  const studio = useStudio();
  const index = useView((state) => state.index);
  const view = useView((state) => state.view);
  const name = (key: string) => {
    const entry = index.get(key);
    return entry ? nameOf(entry.activity, index.type(entry)) : key.replace(/^state:/, "");
  };
  const from = index.get(line.from);
  const outcomes = from ? outcomesOf(from.activity, index.type(from), [line.port]) : [];
  const path = [...view.path, "transitions", line.index ?? 0];
  const transition = membersOf(valueAt(index.doc, path));
  const set = (member: string, value: Json | undefined, label: string) =>
    studio.do(setMember(studio.get().index, { path }, [member], value, label));
  return (
    <div className="space-y-3 p-3">
      <h2 className="text-sm font-semibold">{view.kind === "machine" ? w.transition : w.line}</h2>
      <p className="text-sm">
        {name(line.from)} → {name(line.to)}
      </p>
      {view.kind === "flow" && (
        <Locked>
          <Select
            label={w.outcome}
            options={outcomes.map((one) => [one, one] as const)}
            value={line.port}
            onChange={(event) => {
              const after = reconnect(index, view, line, { port: event.target.value }, w.did.reconnect);
              studio.do(after);
              const next = studio.get().view.lines.find((one) => one.index === line.index);
              if (next) studio.select([], [next.id]);
            }}
          />
        </Locked>
      )}
      {view.kind === "machine" && transition && (
        <>
          <Locked>
            <Field
              label={w.name}
              value={textOf(transition.name)}
              onChange={(event) => set("name", event.target.value, w.did.rename)}
            />
            <div>
              <p className="mb-1 text-xs font-medium text-soft">{w.condition}</p>
              <Expression
                label={w.condition}
                held={transition.condition}
                owner={view.key ?? ""}
                onChange={(held) => set("condition", held, w.did.set)}
              />
              <p className="mt-1 text-xs text-soft">{w.conditionHint}</p>
              {transition.condition !== undefined && (
                <Button tone="quiet" onClick={() => set("condition", undefined, w.did.remove)}>
                  {w.noCondition}
                </Button>
              )}
            </div>
          </Locked>
          {(["trigger", "action"] as const).map((slot) => (
            <div key={slot} className="flex items-center gap-2 text-sm">
              <span className="flex-1">{w[slot]}</span>
              <Button
                onClick={() =>
                  studio.open({ owner: view.key ?? "", slot: `transitions/${line.index}/${slot}` })
                }
              >
                {w.open}
              </Button>
            </div>
          ))}
        </>
      )}
      {line.index !== undefined && (
        <Locked>
          <Button tone="danger" onClick={onRemove}>
            {w.removeLine}
          </Button>
        </Locked>
      )}
    </div>
  );
}
