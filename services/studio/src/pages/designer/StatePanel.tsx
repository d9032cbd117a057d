import { setMember } from "../../model/commands";
import { listOf, membersOf, textOf } from "../../model/json";
import { Steps } from "../../model/steps";
import type { Item, PageView } from "../../model/view";
import { Button } from "../../ui/Button";
import { Check, Field } from "../../ui/Field";
import { removeSelected } from "./deeds";
import { Locked } from "./Locked";
import { useStudio } from "./store";
import { w } from "./words";

/** A state of a state machine. */
export function StatePanel({ item, view }: { item: Item; view: PageView }) {
  const studio = useStudio();
  const name = textOf(item.state?.name);
  const at = Number(item.path.at(-1));
  const rename = (next: string) => {
    const { index } = studio.get();
    const steps = new Steps(index.doc).setDeep([...item.path, "name"], next);
    for (const [number, one] of listOf(view.inside?.transitions).entries()) {
      for (const end of ["from", "to"]) {
        if (membersOf(one)?.[end] === name) steps.set([...view.path, "transitions", number, end], next);
      }
    }
    if (view.inside?.initialState === name) steps.set([...view.path, "initialState"], next);
    studio.do(steps.edit(w.did.rename, { select: [`state:${next}`] }));
  };
  return (
    <div className="space-y-3 p-3">
      <h2 className="text-sm font-semibold">{w.state}</h2>
      <Locked>
        <Field
          label={w.name}
          defaultValue={name}
          onBlur={(event) => event.target.value && event.target.value !== name && rename(event.target.value)}
        />
        <Check
          label={w.initialState}
          checked={textOf(view.inside?.initialState) === name}
          onChange={(event) =>
            studio.do(
              setMember(
                studio.get().index,
                { path: view.path },
                ["initialState"],
                event.target.checked ? name : undefined,
                w.did.set,
              ),
            )
          }
        />
      </Locked>
      {(["entry", "exit"] as const).map((slot) => (
        <div key={slot} className="flex items-center gap-2 text-sm">
          <span className="flex-1">{w[slot]}</span>
          <Button onClick={() => studio.open({ owner: view.key ?? "", slot: `states/${at}/${slot}` })}>
            {w.open}
          </Button>
        </div>
      ))}
      <Locked>
        <Button tone="danger" onClick={() => removeSelected(studio)}>
          {w.remove}
        </Button>
      </Locked>
    </div>
  );
}
