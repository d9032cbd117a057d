import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { id, json, send } from "../../api/client";
import { versionQuery } from "../../api/queries";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { portsOf } from "../../graph/outline";
import { quoted } from "../../lib/shell";
import { t } from "../../text";
import { CopyCommands } from "../../ui/Code";
import { Confirm } from "../../ui/Dialog";
import { Check, Field } from "../../ui/Field";
import { notify } from "../../ui/notices";
import { alterLines } from "./lines";

interface Props {
  instance: string;
  version: string;
  activity: string;
  name: string;
  /** Why there is nothing left to skip, where somebody else was faster. */
  isOver?: string;
  onClose: () => void;
}

/** The outcomes from which lines lead on: each can be chosen. */
function Outcomes({
  ports,
  chosen,
  onChange,
}: {
  ports: readonly string[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}) {
  return (
    <fieldset>
      <legend className="mb-1 text-xs font-medium text-soft">{t.definitions.outcomes}</legend>
      <div className="flex flex-wrap gap-x-4">
        {ports.map((port) => (
          <Check
            key={port}
            label={port}
            checked={chosen.includes(port)}
            onChange={(event) =>
              onChange(event.target.checked ? [...chosen, port] : chosen.filter((one) => one !== port))
            }
          />
        ))}
      </div>
      <p className="mt-1 text-xs text-soft">{t.incidents.outcomesChoice}</p>
    </fieldset>
  );
}

const skip = (activity: string, outcomes: readonly string[]) => ({
  type: "Skip",
  activityId: activity,
  outcomes,
});

const skipping = (activity: string, outcomes: readonly string[]) => ({
  alterations: [skip(activity, outcomes)],
});

/** Ends a failed activity as if it had completed: its outcomes decide what comes next. */
export function Skip({ instance, version, activity, name, isOver, onClose }: Props) {
  const client = useQueryClient();
  const root = useQuery({ ...versionQuery(version), enabled: can("read:workflow-definitions") }).data?.root;
  const ports = portsOf(root, activity);
  const [chosen, setChosen] = useState<string[]>();
  const outcomes = chosen ?? (ports.length > 0 ? ports.slice(0, 1) : ["Done"]);
  const path = `/workflow-instances/${id(instance)}/alter`;
  // The server says before anything is done whether it can be done.
  const tried = useQuery({
    queryKey: ["instance", instance, "skip", activity, outcomes],
    queryFn: ({ signal }) =>
      json<Api["AlterAnswer"]>(path, {
        method: "POST",
        body: { ...skipping(activity, outcomes), dryRun: true },
        signal,
      }),
    placeholderData: keepPreviousData,
    retry: false,
  }).data;
  const reasons = tried && "fits" in tried && !tried.fits ? tried.reasons : [];
  return (
    <Confirm
      title={t.incidents.skipOne(name)}
      verb={t.incidents.skip}
      disabled={reasons.length > 0}
      isOver={isOver}
      act={async () => {
        const { status } = await send(path, { method: "POST", body: skipping(activity, outcomes) });
        notify(status === 202 ? t.waits.accepted : t.incidents.skipped(name));
        for (const key of ["instance", "instances", "incidents", "counts"])
          void client.invalidateQueries({ queryKey: [key] });
      }}
      onClose={onClose}
    >
      <p>{t.incidents.skipConsequence}</p>
      {ports.length > 0 ? (
        <Outcomes ports={ports} chosen={outcomes} onChange={setChosen} />
      ) : (
        <Field
          label={t.definitions.outcomes}
          hint={t.incidents.outcomesHint}
          defaultValue="Done"
          onChange={(event) =>
            setChosen(
              event.target.value
                .split(",")
                .map((one) => one.trim())
                .filter(Boolean),
            )
          }
        />
      )}
      {reasons.length > 0 && (
        <p role="alert" className="break-words text-faulted">
          {t.incidents.skipMisfit} {reasons.join(" ")}
        </p>
      )}
      <CopyCommands
        commands={alterLines(
          instance,
          [
            `instance skip ${quoted(instance)} ${quoted(activity)}`,
            ...outcomes.map((one) => `--outcome ${quoted(one)}`),
          ].join(" "),
          skip(activity, outcomes),
        )}
      />
    </Confirm>
  );
}
