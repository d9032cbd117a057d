import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { id, post } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { DAYS_MAX, lifetimeOf } from "../../lib/lifetime";
import { quoted } from "../../lib/shell";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { CopyCommands } from "../../ui/Code";
import { Field } from "../../ui/Field";
import { List } from "../../ui/List";
import { Time } from "../../ui/Time";
import { Granted } from "./Granted";
import { keyLines } from "./lines";
import { Permissions } from "./Permissions";
import { Bar, Make, Removal } from "./parts";
import { keysQuery } from "./queries";

function Form({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [permissions, setPermissions] = useState<string[]>([]);
  const [days, setDays] = useState("");
  const lifetime = lifetimeOf(days);
  const make = async () => {
    if (lifetime === null) return undefined;
    const body = { name, permissions, lifetimeSeconds: lifetime };
    const made = await post<Api["KeyMade"]>("/api-keys", body);
    void client.invalidateQueries({ queryKey: ["keys"] });
    return { [t.login.key]: made.key };
  };
  return (
    <Make
      title={t.access.newKey}
      verb={t.access.newKey}
      make={make}
      disabled={permissions.length === 0 || lifetime === null}
      onClose={onClose}
    >
      <Field label={t.columns.name} value={name} required onChange={(event) => setName(event.target.value)} />
      <Permissions chosen={permissions} onChange={setPermissions} />
      <Field
        label={t.access.days}
        hint={t.access.daysHint}
        error={lifetime === null ? t.access.daysError(DAYS_MAX) : undefined}
        aria-invalid={lifetime === null}
        inputMode="numeric"
        value={days}
        onChange={(event) => setDays(event.target.value)}
      />
      {name && permissions.length > 0 && lifetime !== null && (
        <CopyCommands commands={keyLines(name, permissions, lifetime)} />
      )}
    </Make>
  );
}

export function Keys() {
  const query = useQuery(keysQuery);
  const [making, setMaking] = useState(false);
  const [removed, setRemoved] = useState<Api["KeySummary"]>();
  return (
    <>
      <Bar
        note={t.access.keysNote}
        word={can("write:api-keys") ? t.access.newKey : undefined}
        onMake={() => setMaking(true)}
      />
      <List
        query={query}
        rows={({ items }) => items}
        empty={t.access.noKeys}
        label={t.access.keys}
        rowKey={(row) => row.id}
        columns={[
          {
            key: "name",
            head: t.columns.name,
            cell: (row) => <span className="font-medium">{row.name}</span>,
          },
          {
            key: "id",
            head: t.columns.id,
            cell: (row) => <code className="font-mono text-xs">{row.id}</code>,
          },
          { key: "owner", head: t.access.owner, cell: (row) => row.owner ?? "–" },
          {
            key: "permissions",
            head: t.access.permissions,
            cell: (row) => (
              <Granted name={row.name} permissions={row.permissions}>
                {row.permissions.join(", ") || "–"}
              </Granted>
            ),
          },
          { key: "made", head: t.columns.made, cell: (row) => <Time at={row.createdAt} /> },
          { key: "until", head: t.access.until, cell: (row) => <Time at={row.expiresAt} /> },
          {
            key: "delete",
            head: <span className="sr-only">{t.actions}</span>,
            end: true,
            cell: (row) =>
              can("delete:api-keys") && (
                <Button tone="quiet" className="!h-6" onClick={() => setRemoved(row)}>
                  {t.deeds.delete}
                </Button>
              ),
          },
        ]}
      />
      {making && <Form onClose={() => setMaking(false)} />}
      {removed && (
        <Removal
          name={removed.name}
          path={`/api-keys/${id(removed.id)}`}
          list="keys"
          command={`staunch key rm ${quoted(removed.id)}`}
          consequence={t.access.deleteKeyConsequence}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </>
  );
}
