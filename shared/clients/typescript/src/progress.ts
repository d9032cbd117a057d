/** What a handler says of how far its task is. */

import { headers, type MsgHdrs } from "@nats-io/transport-node";
import { TaskFailure } from "./failure.js";
import type { Task } from "./worker.js";

/** The largest progress of a task, as JSON. */
const PROGRESS_BYTES_MAX = 64 * 1024;

/** The body of the message about the progress of a task. A value that is no JSON, or too large, is refused. */
export function progressBody(task: Omit<Task<unknown>, "progress">, value: unknown): string {
  const { id: taskId, type: taskType, version: taskVersion, instanceId: workflowInstanceId, attempt } = task;
  const about = JSON.stringify({ taskId, taskType, taskVersion, workflowInstanceId, attempt });
  const said = written(value ?? null);
  const bytes = Buffer.byteLength(said);
  if (bytes > PROGRESS_BYTES_MAX) {
    throw new TaskFailure(
      `the progress has ${bytes} bytes, more than the ${PROGRESS_BYTES_MAX} that it may have`,
      { type: "ProgressTooLarge", detail: "say how far the work is, and return what is large as the result" },
    );
  }
  return `${about.slice(0, -1)},"progress":${said}}`;
}

/** The headers of that message. */
export function progressHeaders(task: Omit<Task<unknown>, "progress">): MsgHdrs {
  const head = headers();
  head.set("Staunch-Task", task.id);
  head.set("Staunch-Instance", task.instanceId);
  head.set("Staunch-Attempt", String(task.attempt));
  if (task.traceparent) head.set("traceparent", task.traceparent);
  return head;
}

function written(value: unknown): string {
  let detail = `${typeof value} has no form in JSON`;
  try {
    const said: string | undefined = JSON.stringify(value);
    if (said !== undefined) return said;
  } catch (error) {
    detail = error instanceof Error ? error.message : String(error);
  }
  throw new TaskFailure("the progress is not JSON", { type: "ProgressUnfit", detail });
}
