import type { Api } from "../../api/types";
import { curl, quoted, staunch } from "../../lib/shell";
import type { Commands } from "../../ui/Code";

export type Listener = Api["Listener"];
export type Tone = "plain" | "good" | "warn" | "bad";

/** The permission to see who listens. */
export const PERMISSION = "read:nodes";
export const PATH = "/cluster/listeners";

/** How a state looks: what nobody takes though somebody wants it is bad, what may pass is a warning. */
export function toneOf(state: Listener["state"]): Tone {
  switch (state) {
    case "listening":
      return "good";
    case "notYet":
      return "warn";
    case "unknown":
      return "plain";
    case "notAllowed":
    case "noExecutor":
    case "noStream":
      return "bad";
    default:
      // What a newer server knows.
      return "plain";
  }
}

/** What a source is called: the stream, bucket or object store, or the subject of messages that nobody keeps. */
export const nameOf = (listener: Listener): string => listener.name ?? listener.filter;

/** What can be done from a terminal with one source. */
export function linesOf(listener: Listener): Commands {
  const { stream, consumer, filter } = listener;
  return {
    staunch: staunch("listener ls"),
    nats:
      stream && consumer
        ? `nats consumer info ${quoted(stream)} ${quoted(consumer)}`
        : `nats sub ${quoted(filter)}`,
    curl: curl(PATH),
  };
}
