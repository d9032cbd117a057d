import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { id, post } from "../../api/client";
import { t } from "../../text";
import { Confirm } from "../../ui/Dialog";
import { Field } from "../../ui/Field";

/** Ends a failed activity as if it had completed: its outcomes decide what comes next. */
export function Skip({
  instance,
  activity,
  name,
  onClose,
}: {
  instance: string;
  activity: string;
  name: string;
  onClose: () => void;
}) {
  const client = useQueryClient();
  const [text, setText] = useState("Done");
  const outcomes = text
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);
  return (
    <Confirm
      title={t.incidents.skipOne(name)}
      verb={t.incidents.skip}
      act={async () => {
        await post(`/workflow-instances/${id(instance)}/alter`, {
          alterations: [{ type: "Skip", activityId: activity, outcomes }],
        });
        await client.invalidateQueries({ queryKey: ["instance", instance] });
      }}
      onClose={onClose}
    >
      <p>{t.incidents.skipConsequence}</p>
      <Field
        label={t.definitions.outcomes}
        hint={t.incidents.outcomesHint}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </Confirm>
  );
}
