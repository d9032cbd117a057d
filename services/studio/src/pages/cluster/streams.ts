import type { Api } from "../../api/types";

/** The streams whose figures matter at a glance; all of them are in the tab of NATS. */
const STREAMS = ["STAUNCH_COMMANDS", "STAUNCH_EVENTS", "STAUNCH_TASKS", "STAUNCH_DEAD"];

/** The queue of the executors and the streams; a queue that does not answer is not known, and not empty. */
export function natsShown(nats: Api["NatsFigures"] | undefined) {
  const queue = nats?.consumers.find((one) => one.stream === "STAUNCH_COMMANDS" && !one.trouble);
  const streams = nats?.streams.filter((one) => STREAMS.includes(one.name)) ?? [];
  return { queue, streams };
}
