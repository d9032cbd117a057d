import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { del, id, post } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { Field } from "../../ui/Field";
import { Empty, Shown } from "../../ui/States";
import { Table } from "../../ui/Table";
import { Bar, Choices, Make } from "./parts";
import { applicationsQuery, rolesQuery } from "./queries";

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
    </Make>
  );
}

export function Applications() {
  const client = useQueryClient();
  const query = useQuery(applicationsQuery);
  const [making, setMaking] = useState(false);
  const [removed, setRemoved] = useState<Api["ApplicationSummary"]>();
  return (
    <>
      <Bar
        note={t.access.applicationsNote}
        word={can("create:application") ? t.access.newApplication : undefined}
        onMake={() => setMaking(true)}
      />
      <Shown query={query}>
        {({ applications }) =>
          applications.length === 0 ? (
            <Empty title={t.access.noApplications} />
          ) : (
            <Table
              label={t.access.applications}
              rows={applications}
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
                { key: "roles", head: t.access.roles, cell: (row) => row.roles.join(", ") },
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
          )
        }
      </Shown>
      {making && <Form onClose={() => setMaking(false)} />}
      {removed && (
        <Confirm
          title={t.access.deleteOne(removed.name)}
          verb={t.access.deleteOne(removed.name)}
          act={() =>
            del(`/identity/applications/${id(removed.id)}`).then(() =>
              client.invalidateQueries({ queryKey: ["applications"] }),
            )
          }
          onClose={() => setRemoved(undefined)}
        >
          <p>{t.access.deleteKeyConsequence}</p>
        </Confirm>
      )}
    </>
  );
}
