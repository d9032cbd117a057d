import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { incidentGroupsQuery } from "../../api/queries";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { pageOf, useAddress } from "../../app/address";
import { formatCount, shortId } from "../../lib/format";
import { visible } from "../../lib/visible";
import { language, t } from "../../text";
import { Button } from "../../ui/Button";
import { Code, CopyCommands } from "../../ui/Code";
import { Confirm } from "../../ui/Dialog";
import { List } from "../../ui/List";
import { attempt } from "../../ui/notices";
import { Facts, SidePanel } from "../../ui/Panel";
import { Spark } from "../../ui/Spark";
import { Badge } from "../../ui/State";
import type { Column } from "../../ui/Table";
import { Time } from "../../ui/Time";
import { retryLines } from "../instance/lines";
import { retry, retryMany } from "../instance/retrying";
import { manyLines } from "../instances/lines";
import { useDefinitionNames } from "../instances/names";
import { ActivityName, useActivityName } from "./ActivityName";
import { toldApart } from "./alike";

type IncidentGroup = Api["IncidentGroup"];

const PAGE_SIZE = 25;
const number = (value: number) => formatCount(value, language);

function Detail({
  group,
  name,
  onClose,
  onDone,
}: {
  group: IncidentGroup;
  name: string;
  onClose: () => void;
  onDone: () => void;
}) {
  const [asked, setAsked] = useState(false);
  const ids = group.workflowInstanceIds;
  const activity = useActivityName(group);
  return (
    <SidePanel title={`${name} · ${activity}`} onClose={onClose}>
      <Facts
        facts={[
          [
            t.incidents.code,
            <Badge key="code" tone="bad">
              {group.code}
            </Badge>,
          ],
          [t.incidents.count, number(group.count)],
          [t.rail.instances, number(group.instanceCount)],
          [t.incidents.first, <Time key="first" at={group.firstAt} />],
          [t.incidents.last, <Time key="last" at={group.lastAt} />],
        ]}
      />
      <Code text={group.message} label={t.incidents.newest} />
      {can("run:alterations") && (
        <div className="flex flex-wrap gap-2">
          <Button
            icon="refresh"
            onClick={async () => {
              const tried = () => retry(group.newestInstanceId, [group.activityId]);
              if (await attempt(tried, String)) onDone();
            }}
          >
            {t.incidents.tryOne}
          </Button>
          <Button tone="main" icon="refresh" onClick={() => setAsked(true)}>
            {t.incidents.retryAll(ids.length)}
          </Button>
        </div>
      )}
      {group.instanceCount > ids.length && (
        <p className="text-sm text-soft">{t.incidents.newestOnly(ids.length, group.instanceCount)}</p>
      )}
      <ul className="grid grid-cols-2 gap-x-4 text-sm">
        {ids.map((instance) => (
          <li key={instance}>
            <Link
              to="/instances/$id"
              params={{ id: instance }}
              search={{ tab: "incidents", activity: group.activityId }}
              className="link inline-flex h-6 items-center font-mono text-xs"
            >
              {shortId(instance)}
            </Link>
          </li>
        ))}
      </ul>
      <CopyCommands commands={retryLines(group.newestInstanceId, group.activityId)} />
      {asked && (
        <Confirm
          title={t.incidents.retryAll(ids.length)}
          verb={t.incidents.retryAll(ids.length)}
          count={ids.length}
          act={async () => {
            await retryMany(ids, [group.activityId]);
            onDone();
          }}
          onClose={() => setAsked(false)}
        >
          <p>{t.bulk.consequences.retry}</p>
          <CopyCommands commands={manyLines("retry", ids, group.activityId)} />
        </Confirm>
      )}
    </SidePanel>
  );
}

/** What went wrong by its cause: one line for many instances. */
export function Groups({ onDone }: { onDone: () => void }) {
  const [search, change] = useAddress();
  const names = useDefinitionNames();
  const asked = { definitionId: search.definition, page: pageOf(search), pageSize: PAGE_SIZE };
  const query = useQuery(incidentGroupsQuery(asked));
  const nameOf = (group: IncidentGroup) => names.get(group.definitionId) ?? group.definitionId;
  const told = toldApart(query.data?.items ?? []);
  const columns: Column<IncidentGroup>[] = [
    {
      key: "cause",
      head: t.incidents.cause,
      className: "!max-w-md max-2xl:!max-w-56 max-sm:!max-w-40",
      cell: (row) => (
        <button
          type="button"
          className="link max-w-full truncate text-left text-faulted"
          title={row.message}
          onClick={() => change({ group: row.id })}
        >
          {visible(row.cause)}
        </button>
      ),
    },
    { key: "count", head: t.incidents.count, end: true, cell: (row) => number(row.count) },
    {
      key: "definition",
      head: t.columns.definition,
      className: "!max-w-60 max-2xl:!max-w-40 max-sm:!max-w-28",
      cell: (row) => (
        <Link to="/definitions/$id" params={{ id: row.definitionId }} className="link">
          {nameOf(row)}
        </Link>
      ),
    },
    {
      key: "activity",
      head: t.messages.activity,
      className: "max-2xl:!max-w-52",
      cell: (row) => <ActivityName of={row} told={told.get(row.id)} />,
    },
    { key: "code", head: t.incidents.code, cell: (row) => <Badge tone="bad">{row.code}</Badge> },
    {
      key: "spark",
      head: t.incidents.lastHour,
      cell: (row) => <Spark counts={row.lastHourParts ?? []} className="h-4 w-20 text-faulted" />,
    },
    { key: "instances", head: t.rail.instances, end: true, cell: (row) => number(row.instanceCount) },
    { key: "last", head: t.incidents.last, cell: (row) => <Time at={row.lastAt} /> },
  ];
  const open = query.data?.items.find((one) => one.id === search.group);
  const done = () => {
    change({ group: undefined });
    onDone();
  };
  return (
    <>
      {query.data?.isCutShort && (
        <p className="border-b border-line px-4 py-2 text-sm text-waiting">
          {t.incidents.cutShort(number(query.data.instancesRead), number(query.data.instancesWithIncidents))}
        </p>
      )}
      <List
        query={query}
        rows={({ items }) => items}
        paged={{ total: ({ totalCount }) => totalCount, size: PAGE_SIZE }}
        empty={t.home.nothingNeeded}
        emptyHint={t.incidents.noneHint}
        label={t.incidents.byCause}
        columns={columns}
        rowKey={(row) => row.id}
        current={search.group}
      />
      {open && (
        <Detail group={open} name={nameOf(open)} onClose={() => change({ group: undefined })} onDone={done} />
      )}
    </>
  );
}
