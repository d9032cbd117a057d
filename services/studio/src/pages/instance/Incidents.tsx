import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { useAddress } from "../../app/address";
import { canChange } from "../../lib/states";
import { visible } from "../../lib/visible";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Code, CopyCommands } from "../../ui/Code";
import { Icon } from "../../ui/Icon";
import { attempt } from "../../ui/notices";
import { Badge, StateBadge } from "../../ui/State";
import { Empty, Shown } from "../../ui/States";
import { Time } from "../../ui/Time";
import { retryLines } from "./lines";
import { useActivityNames } from "./names";
import { changesQuery, type Resolution, resolutionsOf, wayOf } from "./resolutions";
import { keyOf, retry } from "./retrying";
import { Skip } from "./Skip";

function Incident({
  incident,
  instance,
  name,
  canEdit,
  onSkip,
}: {
  incident: Api["Incident"];
  instance: string;
  name: string;
  /** Whether it can be tried again with other values. */
  canEdit: boolean;
  onSkip: () => void;
}) {
  const client = useQueryClient();
  const [, change] = useAddress();
  return (
    <li className="space-y-2 border-b border-line p-4 text-sm">
      <div className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{name}</span>
        <Badge tone="bad">{incident.code}</Badge>
        <span className="text-soft">
          <Time at={incident.timestamp} />
        </span>
        <span className="ml-auto flex flex-wrap gap-2">
          {can("run:alterations") && (
            <Button
              icon="refresh"
              onClick={async () => {
                await attempt(() => retry(instance, [incident.activityId]), String);
                void client.invalidateQueries({ queryKey: ["instance", instance] });
              }}
            >
              {t.deeds.retry}
            </Button>
          )}
          {canEdit && (
            <Button onClick={() => change({ tab: "values", at: undefined })}>
              {t.instance.changeValues}
            </Button>
          )}
          {can("run:alterations") && <Button onClick={onSkip}>{t.incidents.skip}</Button>}
        </span>
      </div>
      <p className="break-words text-faulted">{visible(incident.message)}</p>
      {incident.exception.stackTrace && (
        <details>
          <summary className="cursor-pointer text-xs text-soft">{t.incidents.stack}</summary>
          <Code text={incident.exception.stackTrace} label={t.incidents.stack} />
        </details>
      )}
      {can("run:alterations") && <CopyCommands commands={retryLines(instance, incident.activityId)} />}
    </li>
  );
}

/** What went wrong, and was mended by hand. */
function Resolved({
  resolutions,
  names,
}: {
  resolutions: readonly Resolution[];
  names: (activity: string) => string;
}) {
  return (
    <section>
      <h2 className="border-y border-line bg-sunken px-4 py-1 text-xs font-medium text-soft">
        {t.incidents.resolved(resolutions.length)}
      </h2>
      <ul>
        {resolutions.map(({ key, way, at, activity, message }) => (
          <li key={key} className="space-y-1 border-b border-line px-4 py-2 text-sm">
            <p className="flex flex-wrap items-center gap-x-2">
              <span className="font-medium">{activity ? names(activity) : t.instance.workflow}</span>
              {way === "Skip" ? (
                <StateBadge status="Skipped" />
              ) : (
                <span className="flex items-center gap-1.5 font-medium">
                  <Icon name="refresh" size={14} />
                  {t.incidents.wasRetried}
                </span>
              )}
              <span className="text-soft">
                <Time at={at} />
              </span>
            </p>
            {message && <p className="break-words text-soft">{visible(message)}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What went wrong, where, and what can be done; below it, what was mended. */
export function Incidents({ detail }: { detail: Api["InstanceDetail"] }) {
  const names = useActivityNames(detail.definitionVersionId);
  const changes = useQuery(changesQuery(detail.id));
  const { incidents } = detail.workflowState;
  // The dialog is not that of a line: it stays, and says so, where somebody else is faster.
  const [skipped, setSkipped] = useState<Api["Incident"]>();
  const isOpen = skipped && incidents.some((one) => keyOf(one) === keyOf(skipped));
  const way = skipped && wayOf(resolutionsOf(changes.data?.items ?? []), skipped);
  const canEdit = canChange(detail.subStatus) && can("run:alterations") && can("write:workflow-instances");
  return (
    <>
      {skipped && (
        <Skip
          instance={detail.id}
          version={detail.definitionVersionId}
          activity={skipped.activityId}
          name={names(skipped.activityId)}
          isOver={isOpen ? undefined : t.incidents.wasResolved[way ?? "other"]}
          onClose={() => setSkipped(undefined)}
        />
      )}
      {incidents.length > 0 && (
        <ul>
          {incidents.map((incident) => (
            <Incident
              key={keyOf(incident)}
              incident={incident}
              instance={detail.id}
              name={names(incident.activityId)}
              canEdit={canEdit}
              onSkip={() => setSkipped(incident)}
            />
          ))}
        </ul>
      )}
      <Shown query={changes} rows={2}>
        {({ items, totalCount }) => {
          const resolutions = resolutionsOf(items);
          return (
            <>
              {resolutions.length > 0 && <Resolved resolutions={resolutions} names={names} />}
              {incidents.length === 0 && resolutions.length === 0 && <Empty title={t.incidents.none} />}
              {totalCount > items.length && (
                <p className="px-4 py-2 text-xs text-soft">{t.incidents.changesCut(items.length)}</p>
              )}
            </>
          );
        }}
      </Shown>
    </>
  );
}
