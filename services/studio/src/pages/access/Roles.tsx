import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { id, post, put } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { idOf } from "../../lib/permissions";
import { quoted } from "../../lib/shell";
import { t } from "../../text";
import { CopyCommands } from "../../ui/Code";
import { Field } from "../../ui/Field";
import { List } from "../../ui/List";
import { Menu } from "../../ui/Menu";
import { Granted } from "./Granted";
import { roleLines } from "./lines";
import { Matrix } from "./Matrix";
import { Permissions } from "./Permissions";
import { Bar, Make, Removal } from "./parts";
import { rolesQuery } from "./queries";

type Role = Api["RoleSummary"];

function Form({ role, onClose }: { role?: Role; onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState(role?.name ?? "");
  const [ownId, setOwnId] = useState("");
  const [permissions, setPermissions] = useState<string[]>(role?.permissions ?? []);
  const make = async () => {
    const body = { name, permissions };
    if (role) await put(`/identity/roles/${id(role.id)}`, body);
    else await post("/identity/roles", { ...body, id: ownId.trim() || undefined });
    void client.invalidateQueries({ queryKey: ["roles"] });
    return undefined;
  };
  return (
    <Make
      title={role ? role.name : t.access.newRole}
      verb={role ? t.save : t.access.newRole}
      make={make}
      doubt={permissions.length === 0 ? t.access.emptyRole : undefined}
      onClose={onClose}
    >
      <Field label={t.columns.name} value={name} required onChange={(event) => setName(event.target.value)} />
      <Field
        label={t.columns.id}
        hint={role ? t.access.idStays : t.access.idHint}
        value={role?.id ?? ownId}
        readOnly={role !== undefined}
        pattern="[a-z0-9]+(-[a-z0-9]+)*"
        maxLength={200}
        placeholder={role ? undefined : idOf(name)}
        onChange={(event) => setOwnId(event.target.value)}
      />
      <Permissions chosen={permissions} onChange={setPermissions} />
      {name && (
        <CopyCommands commands={roleLines(role, { id: ownId.trim() || undefined, name, permissions })} />
      )}
    </Make>
  );
}

export function Roles() {
  const query = useQuery(rolesQuery);
  const [form, setForm] = useState<{ role?: Role }>();
  const [removed, setRemoved] = useState<Role>();
  return (
    <>
      <Bar
        note={t.access.rolesNote}
        word={can("create:role") ? t.access.newRole : undefined}
        onMake={() => setForm({})}
      />
      <List
        query={query}
        rows={({ roles }) => roles}
        empty={t.access.noRoles}
        label={t.access.roles}
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
          {
            key: "permissions",
            head: t.access.permissions,
            cell: (row) => (
              <Granted name={row.name} permissions={row.permissions}>
                {row.permissions.join(", ") || "–"}
              </Granted>
            ),
          },
          {
            key: "menu",
            head: <span className="sr-only">{t.actions}</span>,
            end: true,
            className: "!overflow-visible",
            cell: (row) => (
              <Menu
                label={t.access.actionsOf(row.name)}
                tone="quiet"
                items={[
                  can("update:role") && { word: t.change, act: () => setForm({ role: row }) },
                  can("delete:role") && {
                    word: t.deeds.delete,
                    danger: true,
                    act: () => setRemoved(row),
                  },
                ]}
              />
            ),
          },
        ]}
      />
      {query.data && <Matrix roles={query.data.roles} />}
      {form && <Form role={form.role} onClose={() => setForm(undefined)} />}
      {removed && (
        <Removal
          name={removed.name}
          path={`/identity/roles/${id(removed.id)}`}
          list="roles"
          command={`staunch role rm ${quoted(removed.id)}`}
          consequence={t.access.deleteRoleConsequence}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </>
  );
}
