import { id } from "../../api/client";
import { changes, curlJson, natsAlter, natsCancel, quoted, staunch } from "../../lib/shell";
import type { Commands } from "../../ui/Code";

type Alteration = { type: string } & Record<string, unknown>;

/** The lines of a change of one instance; `command` is that of `staunch`. */
export const alterLines = (instance: string, command: string, alteration: Alteration): Commands => ({
  staunch: staunch(command),
  nats: natsAlter(instance, [alteration]),
  curl: curlJson(`/workflow-instances/${id(instance)}/alter`, { alterations: [alteration] }),
});

/** The lines that run what failed again: all of it, or one activity. */
export const retryLines = (instance: string, activity?: string): Commands => ({
  staunch: staunch(
    `instance retry ${quoted(instance)}${activity === undefined ? "" : ` --activity ${quoted(activity)}`}`,
  ),
  nats: natsAlter(instance, [
    { type: "Retry", activityIds: activity === undefined ? undefined : [activity] },
  ]),
  curl: curlJson("/alterations/workflows/retry", {
    workflowInstanceIds: [instance],
    activityIds: activity === undefined ? undefined : [activity],
  }),
});

/** The lines that cancel an instance. */
export const cancelLines = (instance: string, reason: string): Commands => ({
  staunch: staunch(`instance cancel ${quoted(instance)}${reason ? ` --reason ${quoted(reason)}` : ""}`),
  nats: natsCancel(instance, reason),
  curl: curlJson(`/cancel/workflow-instances/${id(instance)}`, { reason: reason || undefined }),
});

/** The lines that remove an instance. */
export const deleteLines = (instance: string): Commands => ({
  staunch: staunch(`instance rm --filter ${quoted(JSON.stringify({ workflowInstanceIds: [instance] }))}`),
  ...changes("DELETE", `/workflow-instances/${id(instance)}`),
});
