import type { Api } from "../../api/types";
import { t } from "../../text";
import { Badge } from "../../ui/State";
import { Value } from "../../ui/Value";

const typed = (type: string | null | undefined, isArray: boolean) =>
  `${type ?? "Object"}${isArray ? "[]" : ""}`;

function Group({ title, children, count }: { title: string; children: React.ReactNode; count: number }) {
  if (count === 0) return null;
  return (
    <section>
      <h2 className="mb-1 text-xs font-medium text-soft">{title}</h2>
      <ul className="divide-y divide-line rounded-md border border-line text-sm">{children}</ul>
    </section>
  );
}

/** Inputs, variables, outputs and outcomes of a definition. */
export function Arguments({ definition }: { definition: Api["FullDefinition"] }) {
  const { inputs, outputs, variables, outcomes } = definition;
  return (
    <>
      <Group title={t.definitions.inputs} count={inputs.length}>
        {inputs.map((one) => (
          <li key={one.name} className="flex gap-3 px-3 py-1.5">
            <span className="flex-1 font-medium">{one.name}</span>
            <span className="text-soft">{typed(one.type, one.isArray)}</span>
          </li>
        ))}
      </Group>
      <Group title={t.instance.variables} count={variables.length}>
        {variables.map((one) => (
          <li key={one.id} className="flex flex-wrap items-center gap-3 px-3 py-1.5">
            <span className="font-medium">{one.name}</span>
            <span className="text-soft">{typed(one.typeName, one.isArray)}</span>
            {"searchable" in one && Boolean(one.searchable) && (
              <Badge tone="accent">{t.definitions.searchable}</Badge>
            )}
            <span className="ml-auto max-w-64 truncate">
              <Value value={one.value} label={one.name} />
            </span>
          </li>
        ))}
      </Group>
      <Group title={t.definitions.outputs} count={outputs.length}>
        {outputs.map((one) => (
          <li key={one.name} className="flex gap-3 px-3 py-1.5">
            <span className="flex-1 font-medium">{one.name}</span>
            <span className="text-soft">{typed(one.type, one.isArray)}</span>
          </li>
        ))}
      </Group>
      <Group title={t.definitions.outcomes} count={outcomes.length}>
        {outcomes.map((one) => (
          <li key={one} className="px-3 py-1.5">
            {one}
          </li>
        ))}
      </Group>
    </>
  );
}
