import { useState } from "react";
import { nameOf } from "../../model/activities";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Field } from "../../ui/Field";
import { cardOf } from "./cards";
import { connectTo } from "./deeds";
import { Close } from "./PublishPanel";
import { useStudio, useView } from "./store";
import { w } from "./words";

/** Asks before changes that are not saved are lost. */
export function LeaveDialog({ onLeave, onClose }: { onLeave: () => void; onClose: () => void }) {
  return (
    <Dialog title={w.left} onClose={onClose}>
      <p className="text-sm">{w.leftNote}</p>
      <div className="mt-5 flex justify-end gap-2">
        <Button onClick={onClose}>{w.stay}</Button>
        <Button tone="danger" onClick={onLeave}>
          {w.leave}
        </Button>
      </div>
    </Dialog>
  );
}

export function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={w.keysTitle} onClose={onClose}>
      <dl className="grid grid-cols-[max-content_1fr] gap-x-4 gap-y-1.5 text-sm">
        {w.keys.map(([key, means]) => (
          <div key={key} className="contents">
            <dt>
              <kbd className="rounded-sm border border-line bg-sunken px-1.5 font-mono text-xs">{key}</kbd>
            </dt>
            <dd>{means}</dd>
          </div>
        ))}
      </dl>
      <Close onClose={onClose} />
    </Dialog>
  );
}

/** Connects the selected activity without a mouse: first the outcome, then the next activity. */
export function ConnectDialog({ from, onClose }: { from: string; onClose: () => void }) {
  const studio = useStudio();
  const index = useView((state) => state.index);
  const view = useView((state) => state.view);
  const [search, setSearch] = useState("");
  const entry = index.get(from);
  const outcomes = entry ? cardOf(entry, index.type(entry)).outcomes : [""];
  const [outcome, setOutcome] = useState(outcomes[0] ?? "Done");
  const name = (key: string) => {
    const one = index.get(key);
    return one ? nameOf(one.activity, index.type(one)) : key.replace(/^state:/, "");
  };
  const found = view.items.filter(
    (item) => item.key !== from && name(item.key).toLowerCase().includes(search.toLowerCase()),
  );
  const choose = (key: string | undefined) => {
    if (key === undefined) return;
    connectTo(studio, from, outcome, key);
    onClose();
  };
  return (
    <Dialog title={w.connectTo(name(from))} onClose={onClose}>
      {outcomes.length > 1 && (
        <div role="radiogroup" aria-label={w.outcome} className="mb-3 flex flex-wrap gap-3 text-sm">
          {outcomes.map((one) => (
            <label key={one} className="flex items-center gap-1.5">
              <input type="radio" name="outcome" checked={one === outcome} onChange={() => setOutcome(one)} />
              {one}
            </label>
          ))}
        </div>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          choose(found[0]?.key);
        }}
      >
        <Field
          label={w.target}
          autoFocus
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
      </form>
      <ul className="mt-2 max-h-64 overflow-auto">
        {found.map((item) => (
          <li key={item.key}>
            <button
              type="button"
              onClick={() => choose(item.key)}
              className="h-8 w-full rounded-md px-2 text-left text-sm hover:bg-sunken"
            >
              {name(item.key)}
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
