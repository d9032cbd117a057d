import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post } from "../../api/client";
import { metricsQuery, nodesQuery, runtimeQuery } from "../../api/queries";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { useAddress } from "../../app/address";
import { reachQuery } from "../../app/nats";
import { isGone } from "../../app/stale";
import { askable, isClusterPaused } from "../../lib/pauses";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { CopyCommands } from "../../ui/Code";
import { Confirm } from "../../ui/Dialog";
import { Field } from "../../ui/Field";
import { Menu } from "../../ui/Menu";
import { attempt } from "../../ui/notices";
import { Page } from "../../ui/Page";
import { Card, Facts } from "../../ui/Panel";
import { Badge } from "../../ui/State";
import { Shown } from "../../ui/States";
import { Tabs } from "../../ui/Tabs";
import { Duration, Time } from "../../ui/Time";
import { Figures } from "./Figures";
import { Leases } from "./Leases";
import { linesOf, RUNTIME, runtimeLines } from "./lines";
import { resumed } from "./resuming";
import { Statements } from "./Statements";
import { Database, Nats } from "./Stores";
import { Validate } from "./Validate";
import { useValidation } from "./validating";
import { announced, PERMISSION } from "./validation";
import { useVanished, type Vanished } from "./vanished";
import { severalVersions } from "./versions";

type Asked = { deed: "pause" | "force-drain"; node?: string };

function Pauses({
  pauses,
  onResume,
}: {
  pauses: Api["PauseShown"][];
  /** Ends the pause of a node, or that of the cluster; nothing for one who may not. */
  onResume?: (node?: string) => void;
}) {
  if (pauses.length === 0) return null;
  return (
    <ul className="space-y-1 rounded-md border border-waiting bg-raised px-4 py-2 text-sm">
      {pauses.map((pause) => (
        <li key={`${pause.node ?? ""}${pause.since}`} className="flex flex-wrap items-center gap-2">
          <span className="min-w-0 break-words">
            {t.cluster.pausedBy(pause.node ?? t.cluster.all, pause.by)} <Time at={pause.since} />
            {pause.reason && ` – ${pause.reason}`}
          </span>
          {onResume && (
            <Button
              className="ml-auto"
              label={t.cluster.resume(pause.node ?? t.cluster.all)}
              onClick={() => onResume(pause.node ?? undefined)}
            >
              {t.cluster.goOn}
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}

/** The nodes that went while one looked: a server that dies says nothing. */
function Gone({ gone, onHide }: { gone: readonly Vanished[]; onHide: (node: string) => void }) {
  if (gone.length === 0) return null;
  return (
    <ul
      aria-label={t.cluster.goneNodes}
      className="space-y-1 rounded-md border border-waiting bg-raised px-4 py-2"
    >
      {gone.map(({ node, roles, lastSeen }) => (
        <li key={node} className="flex flex-wrap items-center gap-x-2 text-sm">
          <span>
            <span className="font-medium">{node}</span> {t.cluster.goneSince}{" "}
            <Time at={new Date(lastSeen).toISOString()} />
          </span>
          {roles.map((role) => (
            <Badge key={role}>{role}</Badge>
          ))}
          <Button
            className="ml-auto"
            tone="quiet"
            icon="close"
            label={t.cluster.hideGone(node)}
            onClick={() => onHide(node)}
          />
        </li>
      ))}
    </ul>
  );
}

function NodeCard({
  node,
  executor,
  deed,
  answers,
  isLost,
  onAsk,
  onResume,
}: {
  node: Api["NodeSeen"];
  executor?: Api["ExecutorShown"];
  deed: "pause" | "resume";
  answers: boolean;
  /** NATS is not reached: what is known of its executor is an earlier answer. */
  isLost: boolean;
  onAsk: (deed: Asked["deed"]) => void;
  onResume: () => void;
}) {
  return (
    <Card
      title={
        <span className="flex items-center gap-2">
          {node.node}
          {answers && <Badge tone="accent">{t.cluster.answers}</Badge>}
          {executor && isLost && <Badge tone="warn">{t.cluster.unknown}</Badge>}
          {executor?.state && !isLost && (
            <Badge tone={executor.state === "Running" ? "good" : "warn"}>
              {t.server[executor.state] ?? executor.state}
            </Badge>
          )}
        </span>
      }
      actions={
        can("ManageWorkflowRuntime") &&
        executor && (
          <Menu
            label={t.cluster.nodeActions(node.node)}
            tone="quiet"
            items={[
              deed === "pause" && { word: t.deeds.pause, act: () => onAsk("pause") },
              { word: t.cluster.drain, act: () => onAsk("force-drain") },
              deed === "resume" && { word: t.deeds.unpause, act: onResume },
            ]}
          />
        )
      }
    >
      <div className="space-y-3 p-4">
        <Facts
          facts={[
            [
              t.cluster.roles,
              <span key="roles" className="flex flex-wrap gap-1">
                {node.roles.map((role) => (
                  <Badge key={role}>{role}</Badge>
                ))}
              </span>,
            ],
            [t.cluster.since, <Time key="since" at={node.startedAt} />],
            [t.cluster.up, <Duration key="up" from={node.startedAt} />],
            [t.cluster.version, node.version ?? "–"],
            [t.cluster.address, node.address ?? "–"],
            executor && [t.cluster.inHand, isLost ? "–" : String(executor.commands ?? "–")],
            executor && [t.rail.instances, isLost ? "–" : String(executor.instances ?? "–")],
          ]}
        />
        <CopyCommands commands={linesOf(node, deed)} />
      </div>
    </Card>
  );
}

const TABS = ["nodes", "leases", "nats", "database", "validate"] as const;
const WORDS = {
  nodes: t.cluster.nodes,
  leases: t.cluster.leases,
  nats: "NATS",
  database: t.cluster.database,
  validate: t.validation.tab,
};

export function ClusterPage() {
  const [search, change] = useAddress();
  const tabs = TABS.filter((one) => one !== "validate" || can(PERMISSION));
  const tab = tabs.find((one) => one === search.tab) ?? "nodes";
  const validating = useValidation();
  const client = useQueryClient();
  const [asked, setAsked] = useState<Asked>();
  const [reason, setReason] = useState("");
  const ask = (next: Asked) => {
    // What was typed for another one is no reason for this one.
    setReason("");
    setAsked(next);
  };
  const nodes = useQuery({ ...nodesQuery, refetchInterval: 3000 });
  const vanished = useVanished(nodes.data, nodes.dataUpdatedAt);
  const status = useQuery({ ...runtimeQuery, refetchInterval: 3000 });
  const isLost = useQuery(reachQuery).data === "lost";
  const metrics = useQuery(metricsQuery);
  const reload = () => void client.invalidateQueries({ queryKey: ["runtime"] });
  const resume = async (node?: string) => {
    await attempt(
      () => post<Api["RuntimeStatus"]>(`${RUNTIME}/resume`, {}, { node }),
      (after) => resumed(node, after),
    );
    reload();
  };
  const mayManage = can("ManageWorkflowRuntime");
  const pauses = status.data?.pauses ?? [];
  const versions = severalVersions(nodes.data?.items ?? []);
  return (
    <Page
      title={t.rail.cluster}
      note={
        status.data &&
        !isLost &&
        (status.data.state.isAcceptingNewWork ? t.cluster.accepting : t.cluster.notAccepting)
      }
      actions={mayManage && <Button onClick={() => ask({ deed: "pause" })}>{t.cluster.pauseAll}</Button>}
    >
      <Pauses pauses={pauses} onResume={mayManage ? (node) => void resume(node) : undefined} />
      <Tabs
        label={t.rail.cluster}
        tabs={tabs.map((key) => ({ key, word: WORDS[key] }))}
        current={tab}
        onChange={(next) =>
          change({ tab: next === "nodes" ? undefined : next, page: undefined, by: undefined })
        }
      >
        <div className="space-y-4 pt-4">
          {tab === "leases" && <Leases />}
          {tab === "nats" && <Nats />}
          {tab === "database" && (
            <>
              <Database />
              <Statements />
            </>
          )}
          {tab === "validate" && <Validate validating={validating} />}
          {tab === "nodes" && (
            <>
              {versions.length > 0 && (
                <p className="rounded-md border border-waiting bg-raised px-4 py-2 text-sm">
                  {t.cluster.severalVersions(versions)}
                </p>
              )}
              <Gone gone={vanished.gone} onHide={vanished.hide} />
              {isLost && (
                <p className="rounded-md border border-faulted bg-raised px-4 py-2 text-sm">
                  {t.cluster.nodesUnknown}
                </p>
              )}
              <Shown query={nodes}>
                {(seen) => (
                  <div className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,20rem),1fr))] gap-4">
                    {seen.items.map((node) => (
                      <NodeCard
                        key={node.node}
                        node={node}
                        answers={node.node === seen.node && !isGone(nodes.error ?? nodes.failureReason)}
                        executor={status.data?.nodes.find((one) => one.node === node.node)}
                        isLost={isLost}
                        deed={askable(node.node, pauses)}
                        onAsk={(deed) => ask({ deed, node: node.node })}
                        onResume={() => void resume(node.node)}
                      />
                    ))}
                  </div>
                )}
              </Shown>
              <CopyCommands
                title={t.cluster.commandsOfAll}
                commands={runtimeLines(isClusterPaused(pauses) ? "resume" : "pause")}
              />
              <Shown query={metrics} rows={4}>
                {(samples) => <Figures samples={samples} />}
              </Shown>
            </>
          )}
        </div>
      </Tabs>
      <p role="status" className="sr-only">
        {announced(validating.run)}
      </p>
      {asked && (
        <Confirm
          title={t.cluster.titles[asked.deed](asked.node ?? t.cluster.all)}
          verb={t.cluster.titles[asked.deed](asked.node ?? t.cluster.all)}
          act={async () => {
            await post(`${RUNTIME}/${asked.deed}`, { reason: reason || undefined }, { node: asked.node });
            reload();
          }}
          onClose={() => setAsked(undefined)}
        >
          <p>{t.cluster.consequences[asked.deed]}</p>
          <Field
            label={t.instance.reason}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
          <CopyCommands commands={runtimeLines(asked.deed, asked.node, reason)} />
        </Confirm>
      )}
    </Page>
  );
}
