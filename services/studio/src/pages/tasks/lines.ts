import { id } from "../../api/client";
import { changes, curl, quoted, staunch } from "../../lib/shell";
import type { Commands } from "../../ui/Code";
import { labelOf, type Pool, type Type } from "./queries";

export const listLines = (): Commands => ({
  staunch: [staunch("worker ls"), staunch("worker types")],
  nats: [
    "nats consumer report STAUNCH_TASKS",
    "nats micro ls staunch-worker",
    "nats kv ls staunch_activities",
  ],
  curl: [curl("/tasks/pools"), curl("/tasks/workers"), curl("/activity-types")],
});

/** What can be done from a terminal with the workers of one version of a type. */
export function linesOf(type: string, version: number, pool?: Pool, held?: Type): Commands {
  const isTask = pool !== undefined || held?.mode === "task";
  return {
    staunch: [
      ...(isTask
        ? [
            staunch(`task ls --type ${quoted(labelOf(type, version))}`),
            `staunch worker creds ${quoted(labelOf(type, version))}`,
          ]
        : []),
      staunch("worker types"),
      ...(held ? [staunch(`worker rm ${quoted(type)} ${version}`)] : []),
    ],
    nats: [
      ...(isTask
        ? [`nats consumer info STAUNCH_TASKS ${quoted(pool?.consumer ?? held?.consumer ?? "")}`]
        : []),
      ...(held?.requestSubject ? [`nats req ${quoted(held.requestSubject)} '{}'`] : []),
      ...(held ? [`nats kv get staunch_activities ${quoted(held.key)}`] : []),
    ],
    curl: [
      ...(isTask ? [curl(`/tasks?type=${id(type)}&version=${version}`)] : []),
      held ? curl(`/activity-types/${id(type)}/${version}`, "-X DELETE") : curl("/tasks/pools"),
    ],
  };
}

/** What removes one version of a type. */
export const removeLines = ({ type, version }: Pick<Type, "type" | "version">): Commands => ({
  staunch: staunch(`worker rm ${quoted(type)} ${version}`),
  ...changes("DELETE", `/activity-types/${id(type)}/${version}`),
});

/** A document to register, without what the server says about where its workers find their work. */
export function documentOf(held: Type): Record<string, unknown> {
  const {
    key: _,
    taskSubject: _t,
    requestSubject: _r,
    resultSubject: _s,
    stream: _m,
    consumer: _c,
    ...rest
  } = held;
  return Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
}

export const EXAMPLE = {
  type: "Acme.ChargeCard",
  version: 1,
  displayName: "Charge card",
  description: "Charges a card.",
  category: "Payments",
  mode: "task",
  input: { type: "object", required: ["amount"], properties: { amount: { type: "number", minimum: 1 } } },
  output: { type: "object", properties: { receipt: { type: "string" } } },
  outcomes: ["Paid", "Declined"],
  retry: { attempts: 3, delay: "10s" },
  timeout: "1h",
};
