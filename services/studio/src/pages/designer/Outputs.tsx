import type { Entry } from "../../model/activities";
import { setMember } from "../../model/commands";
import { type ActivityType, memberOf } from "../../model/descriptors";
import { type Json, listOf, membersOf, textOf } from "../../model/json";
import { Select } from "../../ui/Field";
import { Locked } from "./Locked";
import { Section } from "./Section";
import { useStudio, useView } from "./store";
import { w } from "./words";

/** Changes a member of an activity that is no input. */
export function useSet(entry: Entry) {
  const studio = useStudio();
  return (path: readonly string[], value: Json | undefined, label = w.did.set) => {
    const now = studio.get().index.get(entry.key);
    if (now) studio.do(setMember(studio.get().index, now, path, value, label));
  };
}

/** Where the results of an activity are kept. */
export function Outputs({ entry, type }: { entry: Entry; type: ActivityType }) {
  const set = useSet(entry);
  const doc = useView((state) => membersOf(state.history.doc));
  const variables = listOf(doc?.variables).flatMap((one) => {
    const held = membersOf(one);
    return held
      ? [[textOf(held.id) || textOf(held.name), `${w.variable}: ${textOf(held.name)}`] as const]
      : [];
  });
  const outputs = listOf(doc?.outputs).map((one) => textOf(membersOf(one)?.name));
  const shown = type.outputs.filter((output) => output.isBrowsable);
  if (shown.length === 0) return null;
  return (
    <Section title={w.outputs} isOpen={false}>
      <Locked>
        {shown.map((output) => {
          const member = memberOf(output.name);
          const held = membersOf(entry.activity[member]);
          const now = textOf(membersOf(held?.memoryReference)?.id);
          const options: (readonly [string, string])[] = [
            ["", w.notKept],
            ...variables,
            ...outputs.map((name) => [name, `${w.outputs}: ${name}`] as const),
          ];
          if (!options.some(([value]) => value === now)) options.push([now, now]);
          return (
            <Select
              key={output.name}
              label={`${output.displayName} (${output.typeName})`}
              hint={output.description}
              options={options}
              value={now}
              onChange={(event) => {
                const id = event.target.value;
                const next = {
                  ...(held ?? { typeName: output.typeName }),
                  memoryReference: { ...membersOf(held?.memoryReference), id },
                };
                set([member], id ? next : undefined);
              }}
            />
          );
        })}
      </Locked>
    </Section>
  );
}
