import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { id, post } from "../../api/client";
import { t } from "../../text";
import { Field } from "../../ui/Field";
import { Make } from "../access/parts";
import type { Label } from "./labels";

/** What the picker of a new label shows first. */
const COLOR = "#2a55cc";

/** A form that makes a label, or changes one. */
export function LabelForm({
  label,
  onMade,
  onClose,
}: {
  label?: Label;
  onMade?: (id: string) => void;
  onClose: () => void;
}) {
  const client = useQueryClient();
  const [name, setName] = useState(label?.name ?? "");
  const [color, setColor] = useState(label ? label.color : COLOR);
  const [description, setDescription] = useState(label?.description ?? "");
  const word = label ? t.labels.changeOne(label.name) : t.labels.make;
  const make = async () => {
    const made = await post<Label>(label ? `/labels/${id(label.id)}` : "/labels", {
      name,
      color,
      description,
    });
    await client.invalidateQueries({ queryKey: ["labels"] });
    onMade?.(made.id);
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
