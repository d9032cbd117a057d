import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Code } from "../../ui/Code";
import { attempt } from "../../ui/notices";
import { Badge } from "../../ui/State";
import { Empty } from "../../ui/States";
import { Time } from "../../ui/Time";
import { useActivityNames } from "./names";
import { retry } from "./retrying";
import { Skip } from "./Skip";

function Incident({
  incident,
  instance,
  version,
  name,
}: {
  incident: Api["Incident"];
  instance: string;
  version: string;
  name: string;
}) {
  const client = useQueryClient();
  const [isSkipping, setSkipping] = useState(false);
  return (
    <li className="space-y-2 border-b border-line p-4 text-sm">
      <div className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{name}</span>
        <Badge tone="bad">{incident.code}</Badge>
        <span className="text-soft">
          <Time at={incident.timestamp} />
        </span>
        {can("run:alterations") && (
          <Button
            className="ml-auto"
            icon="refresh"
            onClick={async () => {
              await attempt(() => retry(instance, [incident.activityId]), String);
              void client.invalidateQueries({ queryKey: ["instance", instance] });
            }}
          >
            {t.deeds.retry}
          </Button>
        )}
        {can("run:alterations") && <Button onClick={() => setSkipping(true)}>{t.incidents.skip}</Button>}
        {isSkipping && (
          <Skip
            instance={instance}
            version={version}
            activity={incident.activityId}
            name={name}
            onClose={() => setSkipping(false)}
          />
        )}
      </div>
      <p className="break-words text-faulted">{incident.message}</p>
      {incident.exception.stackTrace && (
        <details>
          <summary className="cursor-pointer text-xs text-soft">{t.incidents.stack}</summary>
          <Code text={incident.exception.stackTrace} label={t.incidents.stack} />
        </details>
      )}
    </li>
  );
}

/** What went wrong, where, and what can be done. */
export function Incidents({ detail }: { detail: Api["InstanceDetail"] }) {
  const names = useActivityNames(detail.definitionVersionId);
  const { incidents } = detail.workflowState;
  if (incidents.length === 0) return <Empty title={t.incidents.none} />;
  return (
    <ul>
      {incidents.map((incident) => (
        <Incident
          key={`${incident.activityNodeId}${incident.timestamp}`}
          incident={incident}
          instance={detail.id}
          version={detail.definitionVersionId}
          name={names(incident.activityId)}
        />
      ))}
    </ul>
  );
}
