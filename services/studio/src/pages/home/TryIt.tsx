import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { get, id, post } from "../../api/client";
import { instancesQuery } from "../../api/queries";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { useLiveReload } from "../../app/live";
import { formatCount } from "../../lib/format";
import { isObject } from "../../lib/json";
import { language, t } from "../../text";
import { Button } from "../../ui/Button";
import { InstanceLink } from "../../ui/InstanceLink";
import { complain } from "../../ui/notices";
import { Card } from "../../ui/Panel";
import { deliver, eventFor, eventPath } from "../instance/sending";
import { KillExecutor } from "./KillExecutor";

/** The order workflow of `staunch demo`, and the event that its large orders wait for. */
const ORDER = "order-approval";
const EVENT = "OrderApproved";
const WAITING = { definitionId: ORDER, subStatus: "Suspended" as const, page: 0, pageSize: 1 };
const ORDERS_WAITING = ["instances", "orders-waiting"];

/** What the last press did. */
interface Deed {
  word: string;
  instance: string;
}

async function start(): Promise<Deed> {
  const order = String(Date.now()).slice(-6);
  const started = await post<Api["InstanceStatus"]>("/workflow-instances/start", {
    definitionId: ORDER,
    correlationId: order,
    input: { OrderId: order, Amount: 2500 },
  });
  return { word: t.home.tryStarted(order), instance: started.workflowInstanceId };
}

/** An order whose credit check is not over takes the event as soon as it waits for it. */
async function approve(instance: string): Promise<Deed> {
  const input = { By: "Studio" };
  const { workflowState } = await get<Api["InstanceDetail"]>(`/workflow-instances/${id(instance)}`);
  const waiting = workflowState.bookmarks.find(
    ({ payload }) => isObject(payload) && payload.EventName === EVENT,
  );
  if (waiting) {
    const { word } = await deliver(
      eventPath(EVENT),
      eventFor(instance, waiting.activityInstanceId, input),
      t.home.tryApproved,
    );
    return { word, instance };
  }
  await post(eventPath(EVENT), { workflowInstanceId: instance, input });
  return { word: t.home.tryApproval, instance };
}

function Orders() {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [deed, setDeed] = useState<Deed>();
  const mayApprove = can("trigger:event") && can("read:workflow-instances");
  const waiting = useQuery({
    ...instancesQuery(WAITING, "orders-waiting"),
    enabled: mayApprove,
    refetchInterval: 10_000,
  }).data;
  const latest = waiting?.items[0];
  useLiveReload(ORDERS_WAITING, ({ definitionId }) => definitionId === ORDER);
  const act = async (work: () => Promise<Deed>) => {
    setBusy(true);
    try {
      setDeed(await work());
    } catch (error) {
      complain(error);
    }
    await client.invalidateQueries({ queryKey: ORDERS_WAITING });
    setBusy(false);
  };
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2 p-4 text-sm">
      <p className="min-w-0 flex-1 basis-80">{t.home.tryText}</p>
      <Button tone="main" icon="instances" disabled={busy} onClick={() => void act(start)}>
        {t.home.tryStart}
      </Button>
      {mayApprove && (
        <Button disabled={busy || !latest} onClick={() => latest && void act(() => approve(latest.id))}>
          {t.home.tryApprove}
        </Button>
      )}
      <p role="status" className="basis-full text-soft">
        <Said deed={deed}>
          {waiting?.totalCount === 0
            ? t.home.tryNone
            : waiting && t.home.tryWaits(formatCount(waiting.totalCount, language))}
        </Said>
      </p>
    </div>
  );
}

function Said({ deed, children }: { deed?: Deed; children: ReactNode }) {
  return (
    <>
      {deed && (
        <>
          {deed.word} <InstanceLink id={deed.instance} />
          {" · "}
        </>
      )}
      {children}
    </>
  );
}

/** What one can do with the workflow of the demo, where it is published. */
export function TryIt() {
  const mayStart = can("exec:workflow-definitions") && can("read:workflow-definitions");
  const published = useQuery({
    queryKey: ["definitions", "order-example"],
    enabled: mayStart,
    staleTime: 30_000,
    queryFn: ({ signal }) => {
      const asked = { definitionIds: ORDER, versionOptions: "Published", pageSize: 1 };
      return get<Api["DefinitionPage"]>("/workflow-definitions", asked, signal);
    },
  }).data;
  if (!mayStart || !published?.items.some((one) => one.definitionId === ORDER)) return null;
  return (
    <Card title={t.home.tryTitle}>
      <Orders />
      <KillExecutor />
    </Card>
  );
}
