import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { id, post, put } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { quoted } from "../../lib/shell";
import { t } from "../../text";
import { CopyCommands } from "../../ui/Code";
import { Confirm } from "../../ui/Dialog";
import { Field } from "../../ui/Field";
import { List } from "../../ui/List";
import { Menu } from "../../ui/Menu";
import { attempt } from "../../ui/notices";
import { Badge } from "../../ui/State";
import { Time } from "../../ui/Time";
import { disableLines, newUserLines, userLines } from "./lines";
import { Bar, Choices, Make, Removal } from "./parts";
import { rolesQuery, useRoleNames, usersQuery } from "./queries";

type User = Api["UserSummary"];

function Form({ user, onClose }: { user?: User; onClose: () => void }) {
  const client = useQueryClient();
  const roles = useQuery(rolesQuery).data?.roles ?? [];
  const [name, setName] = useState(user?.name ?? "");
  const [password, setPassword] = useState("");
  const [chosen, setChosen] = useState<string[]>(user?.roles ?? []);
  const make = async () => {
    if (user) {
      const body = { roles: chosen, password: password || undefined };
      await put<Api["UserSummary"]>(`/identity/users/${id(user.id)}`, body);
      void client.invalidateQueries({ queryKey: ["users"] });
      return undefined;
    }
    const body = { name, password: password || undefined, roles: chosen };
    const made = await post<Api["UserMade"]>("/identity/users", body);
    void client.invalidateQueries({ queryKey: ["users"] });
    return made.password ? { [t.login.password]: made.password } : undefined;
  };
  return (
    <Make
      title={user ? user.name : t.access.newUser}
      verb={user ? t.save : t.access.newUser}
      make={make}
      onClose={onClose}
    >
      {!user && (
        <Field label={t.login.name} value={name} required onChange={(event) => setName(event.target.value)} />
      )}
      <Field
        label={t.login.password}
        type="password"
        autoComplete="new-password"
        hint={user ? t.access.passwordKept : t.access.passwordDrawn}
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
      <Choices
        label={t.access.roles}
        all={roles.map((role) => [role.id, role.name] as const)}
        chosen={chosen}
        onChange={setChosen}
      />
      {name && (
        <CopyCommands
          commands={
            user ? userLines(user, chosen, password !== "") : newUserLines(name, chosen, password !== "")
          }
        />
      )}
    </Make>
  );
}

const set = (user: User, change: { isDisabled: boolean }) =>
  put<User>(`/identity/users/${id(user.id)}`, change);

export function Users() {
  const client = useQueryClient();
  const query = useQuery(usersQuery);
  const nameOf = useRoleNames();
  const [form, setForm] = useState<{ user?: User }>();
  const [removed, setRemoved] = useState<User>();
  const [disabled, setDisabled] = useState<User>();
  const reload = () => client.invalidateQueries({ queryKey: ["users"] });
  return (
    <>
      <Bar
        note={t.access.usersNote}
        word={can("create:user") ? t.access.newUser : undefined}
        onMake={() => setForm({})}
      />
      <List
        query={query}
        rows={({ users }) => users}
        empty={t.access.noUsers}
        label={t.access.users}
        rowKey={(row) => row.id}
        columns={[
          {
            key: "name",
            head: t.columns.name,
            cell: (row) => <span className="font-medium">{row.name}</span>,
          },
          {
            key: "roles",
            head: t.access.roles,
            cell: (row) => (
              <span className="flex gap-1">
                {row.roles.map((role) => (
                  <Badge key={role}>{nameOf(role)}</Badge>
                ))}
              </span>
            ),
          },
          {
            key: "state",
            head: t.filters.state,
            cell: (row) =>
              row.isDisabled ? (
                <Badge tone="warn">{t.access.disabled}</Badge>
              ) : (
                <Badge tone="good">{t.access.active}</Badge>
              ),
          },
          { key: "made", head: t.columns.made, cell: (row) => <Time at={row.createdAt} /> },
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
                  can("update:user") && { word: t.change, act: () => setForm({ user: row }) },
                  can("update:user") && {
                    word: row.isDisabled ? t.access.enable : t.access.disable,
                    act: () =>
                      row.isDisabled
                        ? void attempt(() => set(row, { isDisabled: false }), t.saved).then(reload)
                        : setDisabled(row),
                  },
                  can("delete:user") && {
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
      {form && <Form user={form.user} onClose={() => setForm(undefined)} />}
      {disabled && (
        <Confirm
          title={t.access.disableOne(disabled.name)}
          verb={t.access.disableOne(disabled.name)}
          act={() => set(disabled, { isDisabled: true }).then(reload)}
          onClose={() => setDisabled(undefined)}
        >
          <p>{t.access.disableConsequence}</p>
          <CopyCommands commands={disableLines(disabled)} />
        </Confirm>
      )}
      {removed && (
        <Removal
          name={removed.name}
          path={`/identity/users/${id(removed.id)}`}
          list="users"
          command={`staunch user rm ${quoted(removed.name)}`}
          consequence={t.access.deleteUserConsequence}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </>
  );
}
