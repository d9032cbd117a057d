import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { can } from "../../api/session";
import { useAddress } from "../../app/address";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { CopyCommands } from "../../ui/Code";
import { List } from "../../ui/List";
import { Page } from "../../ui/Page";
import { Card, SidePanel } from "../../ui/Panel";
import { Empty } from "../../ui/States";
import type { Column } from "../../ui/Table";
import { Detail } from "./Detail";
import { EXAMPLE, listLines } from "./lines";
import { Opener, Pools } from "./Pools";
import { labelOf, poolsQuery, readLabel, type Type, typesQuery } from "./queries";
import { Register } from "./Register";
import { Workers } from "./Workers";

/** Documents that cannot be used, each with what is wrong. */
function Faulty() {
  const { data } = useQuery(typesQuery);
  if (!data || data.faulty.length === 0) return null;
  return (
    <Card title={t.tasks.faulty}>
      <ul className="space-y-2 p-4 text-sm">
        {data.faulty.map(({ key, problems }) => (
          <li key={key}>
            <code className="font-mono text-xs">{key}</code>
            <p className="break-words text-faulted">{problems.join(" ")}</p>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Types({ current, onOpen }: { current?: string; onOpen: (label: string) => void }) {
  const query = useQuery(typesQuery);
  const columns: Column<Type>[] = [
    {
      key: "type",
      head: t.tasks.type,
      cell: (row) => <Opener label={labelOf(row.type, row.version)} onOpen={onOpen} />,
    },
    { key: "name", head: t.columns.name, cell: (row) => row.displayName ?? "–" },
    { key: "category", head: t.tasks.category, cell: (row) => row.category ?? "–" },
    { key: "mode", head: t.tasks.mode, cell: (row) => t.tasks.modes[row.mode] },
    {
      key: "subject",
      head: t.messages.subject,
      cell: (row) => (
        <code className="font-mono text-xs">{row.taskSubject ?? row.requestSubject ?? "–"}</code>
      ),
    },
    { key: "about", head: t.columns.description, cell: (row) => row.description ?? "–" },
  ];
  return (
    <List
      query={query}
      rows={({ items }) => items}
      empty={t.tasks.noTypes}
      emptyHint={t.tasks.noTypesHint}
      label={t.tasks.types}
      columns={columns}
      rowKey={(row) => labelOf(row.type, row.version)}
      current={current}
    />
  );
}

/** What waits for workers, who takes it, and the types of activities that workers have registered. */
export function TasksPage() {
  const [search, change] = useAddress();
  const [isRegistering, setRegistering] = useState(false);
  const pools = useQuery(poolsQuery).data?.items;
  const types = useQuery(typesQuery).data?.items;
  const open = (label: string | undefined) => change({ type: label, page: undefined });
  const wanted = readLabel(search.type ?? "");
  const pool = pools?.find((one) => one.taskType === wanted?.type && one.version === wanted.version);
  const held = types?.find((one) => one.type === wanted?.type && one.version === wanted.version);
  return (
    <Page
      title={t.tasks.title}
      note={t.tasks.note}
      actions={
        can("write:activity-types") && (
          <Button tone="main" icon="plus" onClick={() => setRegistering(true)}>
            {t.tasks.register}
          </Button>
        )
      }
    >
      <Card title={t.tasks.pools}>
        <Pools current={search.type} onOpen={open} />
      </Card>
      <Card title={t.tasks.workers}>
        <Workers onOpen={open} />
      </Card>
      <Card title={t.tasks.types}>
        <Types current={search.type} onOpen={open} />
      </Card>
      <Faulty />
      <CopyCommands commands={listLines()} />
      {search.type && pools && types && !pool && !held && (
        <SidePanel title={search.type} onClose={() => open(undefined)}>
          <Empty title={t.tasks.noSuchType(search.type)}>{t.tasks.noSuchTypeHint}</Empty>
        </SidePanel>
      )}
      {wanted && (pool || held) && (
        <Detail
          key={search.type}
          type={wanted.type}
          version={wanted.version}
          pool={pool}
          held={held}
          onClose={() => open(undefined)}
          onDone={open}
        />
      )}
      {isRegistering && (
        <Register
          document={EXAMPLE}
          onClose={(label) => {
            setRegistering(false);
            if (label) open(label);
          }}
        />
      )}
    </Page>
  );
}
