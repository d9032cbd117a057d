import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { del, id, post } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { Field, TextArea } from "../../ui/Field";
import { Empty, Shown } from "../../ui/States";
import { Table } from "../../ui/Table";
import { Time } from "../../ui/Time";
import { Bar, listOf, Make } from "./parts";
import { keysQuery } from "./queries";

const DAY = 86_400;

function Form({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [permissions, setPermissions] = useState("*");
  const [days, setDays] = useState("");
  const make = async () => {
    const lifetimeSeconds = Number(days) > 0 ? Math.round(Number(days) * DAY) : undefined;
    const body = { name, permissions: listOf(permissions), lifetimeSeconds };
    const made = await post<Api["KeyMade"]>("/api-keys", body);
    void client.invalidateQueries({ queryKey: ["keys"] });
    return { [t.login.key]: made.key };
  };
  return (
    <Make title={t.access.newKey} verb={t.access.newKey} make={make} onClose={onClose}>
      <Field label={t.columns.name} value={name} required onChange={(event) => setName(event.target.value)} />
      <TextArea
        label={t.access.permissions}
        hint={t.access.permissionsHint}
        rows={4}
        value={permissions}
        onChange={(event) => setPermissions(event.target.value)}
      />
      <Field
        label={t.access.days}
        hint={t.access.daysHint}
        inputMode="numeric"
        value={days}
        onChange={(event) => setDays(event.target.value)}
      />
    </Make>
  );
}

export function Keys() {
  const client = useQueryClient();
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
      <Shown query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={t.access.noKeys} />
          ) : (
            <Table
              label={t.access.keys}
              rows={items}
              rowKey={(row) => row.id}
              columns={[
                {
                  key: "name",
                  head: t.columns.name,
                  cell: (row) => <span className="font-medium">{row.name}</span>,
                },
                {
                  key: "permissions",
                  head: t.access.permissions,
                  cell: (row) => <span title={row.permissions.join("\n")}>{row.permissions.join(", ")}</span>,
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
          )
        }
      </Shown>
      {making && <Form onClose={() => setMaking(false)} />}
      {removed && (
        <Confirm
          title={t.access.deleteOne(removed.name)}
          verb={t.access.deleteOne(removed.name)}
          act={() =>
            del(`/api-keys/${id(removed.id)}`).then(() => client.invalidateQueries({ queryKey: ["keys"] }))
          }
          onClose={() => setRemoved(undefined)}
        >
          <p>{t.access.deleteKeyConsequence}</p>
        </Confirm>
      )}
    </>
  );
}
