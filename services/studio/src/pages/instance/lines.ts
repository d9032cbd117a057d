import { id } from "../../api/client";
import type { Api } from "../../api/types";
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

type Variable = Pick<Api["VariableSeen"], "id" | "name">;

/** What a change of variables sends: one that has no id is known by its name. */
export const variableBody = ({ id: variable, name }: Variable, value: unknown) => ({
  variables: [{ id: variable || name, value }],
});

/** The lines that give a variable another value. */
export function variableLines(instance: string, variable: Variable, value: unknown): Commands {
  const { id: own, name } = variable;
  // What is before the first sign of equality is the name.
  const called = name.includes("=") ? own || name : name;
  return {
    staunch: staunch(`instance set ${quoted(instance)} ${quoted(`${called}=${JSON.stringify(value)}`)}`),
    ...changes("POST", `/workflow-instances/${id(instance)}/variables`, variableBody(variable, value)),
  };
}

/** The lines that remove an instance. */
export const deleteLines = (instance: string): Commands => ({
  staunch: staunch(`instance rm --filter ${quoted(JSON.stringify({ workflowInstanceIds: [instance] }))}`),
  ...changes("DELETE", `/workflow-instances/${id(instance)}`),
});
