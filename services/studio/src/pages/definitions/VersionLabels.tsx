import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { id, post } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Choices, Make } from "../access/parts";
import { LabelForm } from "./LabelForm";
import { LabelChip, useLabels, withIds } from "./labels";

type Version = Pick<Api["DefinitionSummary"], "id" | "definitionId" | "labels">;

function Form({ version, onClose }: { version: Version; onClose: () => void }) {
  const client = useQueryClient();
  const labels = useLabels();
  const [chosen, setChosen] = useState(version.labels ?? []);
  const [making, setMaking] = useState(false);
  const make = async () => {
    await post(`/workflow-definitions/${id(version.id)}/labels`, { labelIds: chosen });
    await client.invalidateQueries({ queryKey: ["definition", version.definitionId] });
    void client.invalidateQueries({ queryKey: ["definitions"] });
    return undefined;
  };
  const mayMake = can("create:labels");
  return (
    <>
      <Make title={t.labels.title} verb={t.save} make={make} onClose={onClose}>
        <p className="text-sm text-soft">{t.labels.goAlong}</p>
        {labels.length > 0 ? (
          <Choices
            label={t.labels.title}
            all={labels.map((label) => [label.id, label.name] as const)}
            chosen={chosen}
            onChange={setChosen}
          />
        ) : (
          <p className="text-sm">
            {t.labels.nothing} {!mayMake && t.labels.whoMakes}
          </p>
        )}
        {mayMake && (
          <Button icon="plus" onClick={() => setMaking(true)}>
            {t.labels.make}
          </Button>
        )}
      </Make>
      {making && (
        <LabelForm
          onMade={(made) => setChosen((before) => [...before, made])}
          onClose={() => setMaking(false)}
        />
      )}
    </>
  );
}

/** Whether the labels of versions are shown to this person at all. */
export const seesLabels = () => can("read:labels") && can("read:workflow-definition-labels");

/** The labels of a version, as the list of versions has them, and a way to change which it has. */
export function VersionLabels({ version }: { version: Version }) {
  const labels = useLabels();
  const [open, setOpen] = useState(false);
  const shown = withIds(labels, version.labels);
  return (
    <span className="flex flex-wrap items-center gap-1.5">
      {shown.length === 0 ? "–" : shown.map((label) => <LabelChip key={label.id} label={label} />)}
      {can("update:workflow-definition-labels") && (
        <Button tone="quiet" onClick={() => setOpen(true)}>
          {t.labels.choose}
        </Button>
      )}
      {open && <Form version={version} onClose={() => setOpen(false)} />}
    </span>
  );
}
