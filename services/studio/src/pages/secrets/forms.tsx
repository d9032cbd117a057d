import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { get, id, post, put } from "../../api/client";
import type { Api } from "../../api/types";
import { endOf, localOf } from "../../lib/lifetime";
import { t } from "../../text";
import { CopyCommands } from "../../ui/Code";
import { Field, Select, TextArea } from "../../ui/Field";
import { Make } from "../access/parts";
import { describeLines, newLines, rotateLines } from "./lines";

type Secret = Api["SecretSummary"];

/** The time from which a secret is not read, as the reader's clock shows it. */
function Until({
  value,
  hint = t.secrets.untilHint,
  onChange,
}: {
  value: string;
  hint?: string;
  onChange: (value: string) => void;
}) {
  return (
    <Field
      type="datetime-local"
      label={t.access.until}
      hint={hint}
      error={endOf(value, Date.now()) === null ? t.secrets.untilError : undefined}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

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
  const [until, setUntil] = useState("");
  const expiresAt = endOf(until, Date.now());
  const make = async () => {
    await post("/secrets", { name, value, typeName, description: description || undefined, expiresAt });
    void client.invalidateQueries({ queryKey: ["secrets"] });
    return undefined;
  };
  return (
    <Make
      title={t.secrets.make}
      verb={t.secrets.make}
      make={make}
      disabled={expiresAt === null}
      onClose={onClose}
    >
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
      <Until value={until} onChange={setUntil} />
      {name && (
        <CopyCommands
          commands={newLines({ name, typeName, description: description || undefined, expiresAt })}
        />
      )}
    </Make>
  );
}

/** The end that a secret has, unless it is over. */
const endNow = ({ expiresAt }: Secret) =>
  Date.parse(expiresAt ?? "") > Date.now() ? localOf(expiresAt) : "";

/** Changes what is said about a secret, and not its value. */
export function DescribeSecret({ secret, onClose }: { secret: Secret; onClose: () => void }) {
  const client = useQueryClient();
  const had = endNow(secret);
  const [description, setDescription] = useState(secret.description ?? "");
  const [until, setUntil] = useState(had);
  const expiresAt = until === had ? undefined : endOf(until, Date.now());
  const make = async () => {
    await put(`/secrets/${id(secret.name)}`, { description, expiresAt });
    void client.invalidateQueries({ queryKey: ["secrets"] });
    return undefined;
  };
  return (
    <Make
      title={t.secrets.describeOne(secret.name)}
      verb={t.save}
      make={make}
      disabled={expiresAt === null || (had !== "" && until === "")}
      onClose={onClose}
    >
      <Field
        label={t.columns.description}
        value={description}
        onChange={(event) => setDescription(event.target.value)}
      />
      <Until value={until} hint={t.secrets.untilStays} onChange={setUntil} />
      <CopyCommands commands={describeLines(secret.name, { description, expiresAt })} />
    </Make>
  );
}

export function RotateSecret({ secret, onClose }: { secret: Secret; onClose: () => void }) {
  const { name } = secret;
  const client = useQueryClient();
  const [value, setValue] = useState("");
  const had = endNow(secret);
  const [until, setUntil] = useState(had);
  const expiresAt = until === had && had ? secret.expiresAt : endOf(until, Date.now());
  const make = async () => {
    await post(`/secrets/${id(name)}/rotate`, { value, expiresAt });
    void client.invalidateQueries({ queryKey: ["secrets"] });
    return undefined;
  };
  return (
    <Make
      title={t.secrets.rotateOne(name)}
      verb={t.secrets.rotate}
      make={make}
      disabled={until !== "" && !expiresAt}
      onClose={onClose}
    >
      <p className="text-sm text-soft">{t.secrets.rotateHint}</p>
      <TextArea
        label={t.secrets.value}
        rows={3}
        value={value}
        required
        onChange={(event) => setValue(event.target.value)}
      />
      <Until value={until} onChange={setUntil} />
      <CopyCommands commands={rotateLines(name, expiresAt)} />
    </Make>
  );
}
