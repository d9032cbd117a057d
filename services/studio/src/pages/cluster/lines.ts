import type { Api } from "../../api/types";
import { changes, curl, quoted, staunch } from "../../lib/shell";
import type { Commands } from "../../ui/Code";

/** The part of the API that pauses executors and lets them go on. */
export const RUNTIME = "/admin/workflow-runtime";

/** What can be done with a node from a terminal: an executor is paused, or its pause is ended. */
export function linesOf(
  { node, roles }: Pick<Api["NodeSeen"], "node" | "roles">,
  deed: "pause" | "resume",
): Commands {
  const seen = { nats: "nats micro ls", curl: curl("/nodes") };
  if (!roles.includes("executor")) return { staunch: staunch("top"), ...seen };
  const request = changes("POST", `${RUNTIME}/${deed}`, { node });
  return {
    staunch: staunch(`runtime ${deed} --node ${quoted(node)}`),
    nats: [seen.nats, request.nats],
    curl: [seen.curl, request.curl],
  };
}
