import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { get, id, post } from "../../api/client";
import type { Api } from "../../api/types";
import { t } from "../../text";
import { Field, Select, TextArea } from "../../ui/Field";
import { Make } from "../access/parts";

export function NewSecret({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const kinds = useQuery({
    queryKey: ["secret-kinds"],
    queryFn: ({ signal }) => get<Api["SecretKinds"]>("/secrets/descriptors", undefined, signal),
  }).data;
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const [description, setDescription] = useState("");
  const [typeName, setTypeName] = useState("Text");
  const make = async () => {
    await post("/secrets", { name, value, typeName, description: description || undefined });
    void client.invalidateQueries({ queryKey: ["secrets"] });
    return undefined;
  };
  return (
    <Make title={t.secrets.make} verb={t.secrets.make} make={make} onClose={onClose}>
      <Field label={t.columns.name} value={name} required onChange={(event) => setName(event.target.value)} />
      <Select
        label={t.secrets.type}
        value={typeName}
        options={(kinds?.types ?? [{ name: "Text", displayName: "Text" }]).map(
          (one) => [one.name, one.displayName] as const,
        )}
        onChange={(event) => setTypeName(event.target.value)}
      />
      <TextArea
        label={t.secrets.value}
        rows={3}
        value={value}
        required
        onChange={(event) => setValue(event.target.value)}
      />
      <Field
        label={t.columns.description}
        value={description}
        onChange={(event) => setDescription(event.target.value)}
      />
    </Make>
  );
}

export function RotateSecret({ name, onClose }: { name: string; onClose: () => void }) {
  const client = useQueryClient();
  const [value, setValue] = useState("");
  const make = async () => {
    await post(`/secrets/${id(name)}/rotate`, { value });
    void client.invalidateQueries({ queryKey: ["secrets"] });
    return undefined;
  };
  return (
    <Make title={t.secrets.rotateOne(name)} verb={t.secrets.rotate} make={make} onClose={onClose}>
      <p className="text-sm text-soft">{t.secrets.rotateHint}</p>
      <TextArea
        label={t.secrets.value}
        rows={3}
        value={value}
        required
        onChange={(event) => setValue(event.target.value)}
      />
    </Make>
  );
}
