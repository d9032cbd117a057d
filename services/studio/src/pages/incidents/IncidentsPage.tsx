import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { asProblem } from "../../api/problem";
import { instanceQuery, instancesQuery } from "../../api/queries";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { pageOf, useAddress } from "../../app/address";
import { fromAddress } from "../../lib/filters";
import { activityWord, shortId } from "../../lib/format";
import { quoted, reads, staunch } from "../../lib/shell";
import { visible } from "../../lib/visible";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { type Commands, CopyCommands } from "../../ui/Code";
import { Pages } from "../../ui/List";
import { attempt } from "../../ui/notices";
import { Page } from "../../ui/Page";
import { Card } from "../../ui/Panel";
import { Badge, StateBadge } from "../../ui/State";
import { Empty, type QueryLike, Shown } from "../../ui/States";
import { Tabs } from "../../ui/Tabs";
import { Time } from "../../ui/Time";
import { useActivityNames } from "../instance/names";
import { retry } from "../instance/retrying";
import { BulkBar } from "../instances/BulkBar";
import { listLines } from "../instances/lines";
import { useDefinitionNames } from "../instances/names";
import { PlanPanel } from "../instances/PlanPanel";
import { Groups } from "./Groups";

const PAGE_SIZE = 25;

function Row({
  row,
  name,
  detail,
  onDone,
}: {
  row: Api["InstanceSummary"];
  name: string;
  detail?: QueryLike<Api["InstanceDetail"]>;
  onDone: () => void;
}) {
  const [busy, setBusy] = useState(false);
  const incidents = detail?.data?.workflowState.incidents;
  const activities = useActivityNames(row.definitionVersionId);
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-1 border-b border-line px-4 py-2.5 text-sm last:border-0">
      <span className="w-28 pt-0.5">
        <StateBadge status={row.subStatus} />
      </span>
      <div className="min-w-0 flex-1 basis-80">
        <p className="flex flex-wrap items-baseline gap-x-3">
          <Link
            to="/instances/$id"
            params={{ id: row.id }}
            search={{ tab: "incidents" }}
            className="link max-w-full truncate font-medium"
            title={name}
          >
            {name}
          </Link>
          <span className="font-mono text-xs text-soft">{shortId(row.id)}</span>
          <span className="text-xs text-soft">
            <Time at={row.updatedAt} />
          </span>
        </p>
        {incidents?.slice(0, 3).map((one) => (
          <p key={`${one.activityNodeId}${one.timestamp}`} className="mt-1 flex min-w-0 items-baseline gap-2">
            <Badge tone="bad">{one.code}</Badge>
            <span className="max-w-48 shrink-0 truncate font-medium" title={one.activityId}>
              {activities(one.activityId, activityWord(one.activityId, undefined, one.activityType))}
            </span>
            <span className="line-clamp-3 min-w-0 text-faulted [overflow-wrap:anywhere]" title={one.message}>
              {visible(one.message)}
            </span>
          </p>
        ))}
        {!incidents && !detail?.error && <div className="skeleton mt-1 h-5 w-2/3" />}
        {!incidents && Boolean(detail?.error) && (
          <p className="mt-1 flex flex-wrap items-center gap-x-2">
            <span className="min-w-0 break-words">{asProblem(detail?.error).detail}</span>
            <Button tone="quiet" className="!h-6" icon="refresh" onClick={() => void detail?.refetch()}>
              {t.tryAgain}
            </Button>
          </p>
        )}
        {incidents && incidents.length > 3 && (
          <p className="mt-1 text-xs text-soft">{t.incidents.more(incidents.length - 3)}</p>
        )}
      </div>
      {can("run:alterations") && (
        <Button
          icon="refresh"
          busy={busy}
          onClick={async () => {
            setBusy(true);
            await attempt(() => retry(row.id), String);
            setBusy(false);
            onDone();
          }}
        >
          {t.deeds.retry}
        </Button>
      )}
    </li>
  );
}

const filterOf = (definition: string | undefined) => ({
  ...fromAddress({ definition }),
  incidents: true,
  order: "UpdatedAt" as const,
});

const causeLines = (definition: string | undefined): Commands => ({
  staunch: staunch(definition ? `incident ls --definition ${quoted(definition)}` : "incident ls"),
  ...reads("/incidents/groups", { definitionId: definition }),
});

/** The same list of instances; `staunch` lists incidents only by their cause. */
const inboxLines = (definition: string | undefined): Commands => listLines(filterOf(definition), Date.now());

/** Instance by instance, the newest change first. */
function Inbox({ onDone }: { onDone: () => void }) {
  const [search, change] = useAddress();
  const page = pageOf(search);
  // Nothing else of the address narrows the list.
  const { definition } = search;
  const filter = { ...filterOf(definition), page };
  const asked = {
    hasIncidents: true,
    definitionId: definition,
    orderBy: "UpdatedAt" as const,
    page,
    pageSize: PAGE_SIZE,
  };
  const query = useQuery(instancesQuery(asked, ["incidents", asked]));
  const names = useDefinitionNames();
  const details = useQueries({
    queries: (query.data?.items ?? []).map((row) => ({ ...instanceQuery(row.id), staleTime: 30_000 })),
  });
  return (
    <Shown query={query}>
      {(list) =>
        list.totalCount === 0 ? (
          <Empty title={t.home.nothingNeeded}>{t.incidents.noneHint}</Empty>
        ) : (
          <>
            <BulkBar
              selected={new Set()}
              total={list.totalCount}
              filter={filter}
              isRead
              onDone={onDone}
              onPlan={(plan) => change({ plan })}
            />
            <ul>
              {list.items.map((row, at) => (
                <Row
                  key={row.id}
                  row={row}
                  name={visible(row.name ?? names.get(row.definitionId) ?? row.definitionId)}
                  detail={details[at]}
                  onDone={onDone}
                />
              ))}
            </ul>
            <Pages total={list.totalCount} size={PAGE_SIZE} />
          </>
        )
      }
    </Shown>
  );
}

/** What needs a person: by cause, or instance by instance. */
export function IncidentsPage() {
  const [search, change] = useAddress();
  const client = useQueryClient();
  const reload = () => {
    for (const key of ["instances", "instance", "incidents", "counts"])
      void client.invalidateQueries({ queryKey: [key] });
  };
  const by = search.by === "instance" ? "instance" : "cause";
  return (
    <Page
      title={t.rail.incidents}
      note={t.incidents.notes[by]}
      actions={
        <Button icon="refresh" onClick={reload}>
          {t.refresh}
        </Button>
      }
    >
      <Card>
        <Tabs
          label={t.rail.incidents}
          tabs={[
            { key: "cause", word: t.incidents.byCause },
            { key: "instance", word: t.incidents.byInstance },
          ]}
          current={by}
          onChange={(next) =>
            change({ by: next === "cause" ? undefined : next, page: undefined, group: undefined })
          }
        >
          {by === "cause" ? <Groups onDone={reload} /> : <Inbox onDone={reload} />}
        </Tabs>
      </Card>
      <CopyCommands
        commands={by === "cause" ? causeLines(search.definition) : inboxLines(search.definition)}
      />
      {search.plan && (
        <PlanPanel plan={search.plan} onClose={() => change({ plan: undefined })} onDone={reload} />
      )}
    </Page>
  );
}
