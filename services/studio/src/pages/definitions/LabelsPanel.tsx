import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { id } from "../../api/client";
import { can } from "../../api/session";
import { quoted, staunch } from "../../lib/shell";
import { t } from "../../text";
import { Menu } from "../../ui/Menu";
import { Card, SidePanel } from "../../ui/Panel";
import { Shown } from "../../ui/States";
import { Bar, Removal } from "../access/parts";
import { LabelForm } from "./LabelForm";
import { Dot, type Label, labelsQuery } from "./labels";

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
                  <span className="max-w-3/5 min-w-0 truncate font-medium" title={label.name}>
                    {label.name}
                  </span>
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
          command={staunch(`label rm ${quoted(asked.label.id)}`)}
          consequence={t.labels.consequence}
          onClose={close}
        />
      )}
    </SidePanel>
  );
}
