import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post } from "../../api/client";
import { demoQuery } from "../../api/queries";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { formatCount } from "../../lib/format";
import { language, t } from "../../text";
import { Button } from "../../ui/Button";
import { complain } from "../../ui/notices";
import { Facts } from "../../ui/Panel";
import { Time } from "../../ui/Time";

const number = (value: number) => formatCount(value, language);

/** Which executor died, which one works in its place, and what became of the instances. */
function Kill({ of, now }: { of: Api["DemoKill"]; now?: Api["DemoProcess"] | null }) {
  return (
    <div className="space-y-2">
      <p role="status">
        {t.home.kill.was(of.killed.node, of.killed.processId)}{" "}
        {now ? t.home.kill.works(now.node, now.processId) : t.home.kill.starts}{" "}
        <span className="text-soft">
          <Time at={of.at} />
        </span>
      </p>
      <section aria-label={t.home.kill.figures}>
        <Facts
          facts={[
            [
              t.home.kill.kept,
              <span key="kept" className={of.instancesKept < of.instancesBefore ? "text-faulted" : ""}>
                {t.home.kill.keptOf(number(of.instancesKept), number(of.instancesBefore))}
              </span>,
            ],
            [t.home.kill.movedOn, number(of.instancesMovedOn)],
            [t.home.kill.started, number(of.startedSince)],
            [t.home.kill.finished, number(of.finishedSince)],
          ]}
        />
      </section>
    </div>
  );
}

/** In `staunch demo`: kills the executor, and shows that nothing is lost. There is nothing to kill elsewhere. */
export function KillExecutor() {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const demo = useQuery({ ...demoQuery, enabled: can("ManageWorkflowRuntime") }).data;
  if (!demo?.isDemo) return null;
  const { executor, lastKill } = demo;
  const kill = async () => {
    setBusy(true);
    try {
      client.setQueryData(demoQuery.queryKey, await post<Api["DemoShown"]>("/demo/executors/kill"));
    } catch (error) {
      complain(error);
      await client.invalidateQueries({ queryKey: demoQuery.queryKey });
    }
    setBusy(false);
  };
  return (
    <div className="space-y-3 border-t border-line p-4 text-sm">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <p className="min-w-0 flex-1 basis-80">
          {demo.state === "Showing" ? t.home.kill.showing : t.home.kill.text}
        </p>
        <Button tone="danger" disabled={busy || demo.state !== "Running"} onClick={() => void kill()}>
          {executor ? t.home.kill.button(executor.node, executor.processId) : t.home.kill.none}
        </Button>
      </div>
      {lastKill && <Kill of={lastKill} now={executor} />}
    </div>
  );
}
