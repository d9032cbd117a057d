import { queryOptions, useQuery } from "@tanstack/react-query";
import { get } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { t } from "../../text";
import { Select } from "../../ui/Field";
import { Icon } from "../../ui/Icon";

export type Label = Api["LabelSummary"];

export const labelsQuery = queryOptions({
  queryKey: ["labels"],
  queryFn: ({ signal }) => get<Api["Paged_LabelSummary"]>("/labels", undefined, signal),
  staleTime: 30_000,
});

/** All labels, by name; none for a person who may not see them. */
export function useLabels(): Label[] {
  return useQuery({ ...labelsQuery, enabled: can("read:labels") }).data?.items ?? [];
}

/** The labels with these ids, by name; ids that no label has are left out. */
export const withIds = (labels: readonly Label[], ids: readonly string[] | null | undefined): Label[] =>
  labels.filter((label) => ids?.includes(label.id));

/** The ids in an address. */
export const idsOf = (text: string | undefined): string[] => (text ?? "").split(",").filter(Boolean);

export function Dot({ color }: { color?: string | null }) {
  return (
    <span
      aria-hidden="true"
      className="size-2.5 shrink-0 rounded-full border border-line-strong bg-sunken"
      style={color ? { backgroundColor: color } : undefined}
    />
  );
}

const CHIP = "inline-flex h-6 max-w-40 items-center gap-1.5 rounded-sm border px-1.5 text-xs";

/** A label of a row; a press finds what has it, too. */
export function LabelChip({ label, onFind }: { label: Label; onFind?: () => void }) {
  const inside = (
    <>
      <Dot color={label.color} />
      <span className="truncate">{label.name}</span>
    </>
  );
  if (!onFind) {
    return (
      <span className={`${CHIP} border-line`} title={label.description ?? undefined}>
        {inside}
      </span>
    );
  }
  return (
    <button
      type="button"
      className={`${CHIP} border-line hover:border-accent`}
      aria-label={t.labels.find(label.name)}
      title={label.description ?? undefined}
      onClick={onFind}
    >
      {inside}
    </button>
  );
}

/** Chooses labels to find definitions by: a list, and the chosen ones beside it. */
export function LabelFilter({
  labels,
  chosen,
  onChange,
}: {
  labels: readonly Label[];
  chosen: string[];
  onChange: (chosen: string[]) => void;
}) {
  const others = labels.filter((label) => !chosen.includes(label.id));
  if (labels.length === 0 && chosen.length === 0) return null;
  // One that is gone is shown by its id, so that it can be taken out of the address.
  const shown = chosen.map((one): Pick<Label, "id" | "name" | "color"> => {
    return labels.find((label) => label.id === one) ?? { id: one, name: one };
  });
  return (
    <>
      <Select
        className="w-44"
        label={t.labels.filter}
        hideLabel
        value=""
        options={[["", t.labels.any], ...others.map((label) => [label.id, label.name] as const)]}
        onChange={(event) => event.target.value && onChange([...chosen, event.target.value])}
      />
      {shown.map((label) => (
        <button
          key={label.id}
          type="button"
          aria-label={t.filters.remove(label.name)}
          onClick={() => onChange(chosen.filter((one) => one !== label.id))}
          className={`${CHIP} self-center border-accent bg-accent-soft`}
        >
          <Dot color={label.color} />
          <span className="truncate">{label.name}</span>
          <Icon name="close" size={12} />
        </button>
      ))}
    </>
  );
}
