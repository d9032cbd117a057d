import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { id, post } from "../../api/client";
import { can } from "../../api/session";
import { t } from "../../text";
import { Field } from "../../ui/Field";
import { Menu } from "../../ui/Menu";
import { Card, SidePanel } from "../../ui/Panel";
import { Shown } from "../../ui/States";
import { Bar, Make, Removal } from "../access/parts";
import { Dot, type Label, labelsQuery } from "./labels";

/** What the picker of a new label shows first. */
const COLOR = "#2a55cc";

/** A form that makes a label, or changes one. */
function LabelForm({ label, onClose }: { label?: Label; onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState(label?.name ?? "");
  const [color, setColor] = useState(label ? label.color : COLOR);
  const [description, setDescription] = useState(label?.description ?? "");
  const word = label ? t.labels.changeOne(label.name) : t.labels.make;
  const make = async () => {
    await post(label ? `/labels/${id(label.id)}` : "/labels", { name, color, description });
    await client.invalidateQueries({ queryKey: ["labels"] });
    return undefined;
  };
  return (
    <Make title={word} verb={label ? t.save : t.labels.make} make={make} onClose={onClose}>
      <Field
        label={t.columns.name}
        value={name}
        required
        maxLength={100}
        onChange={(event) => setName(event.target.value)}
      />
      <Field
        className="w-24"
        label={t.labels.color}
        type="color"
        value={color ?? COLOR}
        onChange={(event) => setColor(event.target.value)}
      />
      <Field
        label={t.columns.description}
        value={description}
        maxLength={500}
        onChange={(event) => setDescription(event.target.value)}
      />
    </Make>
  );
}

type Asked = { deed: "new" } | { deed: "change" | "remove"; label: Label };

/** All labels: makes, renames, colours and removes them. */
export function LabelsPanel({ onClose }: { onClose: () => void }) {
  const query = useQuery(labelsQuery);
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  return (
    <SidePanel title={t.labels.title} onClose={onClose}>
      <Card>
        <Bar
          note={t.labels.note}
          word={can("create:labels") ? t.labels.make : undefined}
          onMake={() => setAsked({ deed: "new" })}
        />
        <Shown query={query}>
          {({ items }) => (
            <ul>
              {items.length === 0 && <li className="px-4 py-3 text-sm text-soft">{t.labels.nothing}</li>}
              {items.map((label) => (
                <li
                  key={label.id}
                  className="flex min-h-10 items-center gap-2.5 border-b border-line px-4 text-sm last:border-b-0"
                >
                  <Dot color={label.color} />
                  <span className="font-medium">{label.name}</span>
                  <span className="min-w-0 flex-1 truncate text-soft">{label.description}</span>
                  <Menu
                    label={t.access.actionsOf(label.name)}
                    tone="quiet"
                    items={[
                      can("update:labels") && {
                        word: t.change,
                        act: () => setAsked({ deed: "change", label }),
                      },
                      can("delete:labels") && {
                        word: t.deeds.delete,
                        danger: true,
                        act: () => setAsked({ deed: "remove", label }),
                      },
                    ]}
                  />
                </li>
              ))}
            </ul>
          )}
        </Shown>
      </Card>
      {asked?.deed === "new" && <LabelForm onClose={close} />}
      {asked?.deed === "change" && <LabelForm label={asked.label} onClose={close} />}
      {asked?.deed === "remove" && (
        <Removal
          name={asked.label.name}
          path={`/labels/${id(asked.label.id)}`}
          list="labels"
          consequence={t.labels.consequence}
          onClose={close}
        />
      )}
    </SidePanel>
  );
}
