import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { id, post } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { quoted } from "../../lib/shell";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { CopyCommands } from "../../ui/Code";
import { Field } from "../../ui/Field";
import { List } from "../../ui/List";
import { applicationLines } from "./lines";
import { Bar, Choices, Make, Removal } from "./parts";
import { applicationsQuery, rolesQuery, useRoleNames } from "./queries";

function Form({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const roles = useQuery(rolesQuery).data?.roles ?? [];
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<string[]>([]);
  const make = async () => {
    const made = await post<Api["ApplicationMade"]>("/identity/applications", { name, roles: chosen });
    void client.invalidateQueries({ queryKey: ["applications"] });
    return { [t.login.key]: made.apiKey };
  };
  return (
    <Make title={t.access.newApplication} verb={t.access.newApplication} make={make} onClose={onClose}>
      <Field label={t.columns.name} value={name} required onChange={(event) => setName(event.target.value)} />
      <Choices
        label={t.access.roles}
        all={roles.map((role) => [role.id, role.name] as const)}
        chosen={chosen}
        onChange={setChosen}
      />
      {name && <CopyCommands commands={applicationLines(name, chosen)} />}
    </Make>
  );
}

export function Applications() {
  const query = useQuery(applicationsQuery);
  const nameOf = useRoleNames();
  const [making, setMaking] = useState(false);
  const [removed, setRemoved] = useState<Api["ApplicationSummary"]>();
  return (
    <>
      <Bar
        note={t.access.applicationsNote}
        word={can("create:application") ? t.access.newApplication : undefined}
        onMake={() => setMaking(true)}
      />
      <List
        query={query}
        rows={({ applications }) => applications}
        empty={t.access.noApplications}
        label={t.access.applications}
        rowKey={(row) => row.id}
        columns={[
          {
            key: "name",
            head: t.columns.name,
            cell: (row) => <span className="font-medium">{row.name}</span>,
          },
          {
            key: "client",
            head: t.access.clientId,
            cell: (row) => <code className="font-mono text-xs">{row.clientId}</code>,
          },
          { key: "roles", head: t.access.roles, cell: (row) => row.roles.map(nameOf).join(", ") },
          {
            key: "delete",
            head: <span className="sr-only">{t.actions}</span>,
            end: true,
            cell: (row) =>
              can("delete:application") && (
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
          path={`/identity/applications/${id(removed.id)}`}
          list="applications"
          command={`staunch app rm ${quoted(removed.name)}`}
          consequence={t.access.deleteKeyConsequence}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </>
  );
}
