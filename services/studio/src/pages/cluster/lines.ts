import type { Api } from "../../api/types";
import { changes, curl, quoted, staunch } from "../../lib/shell";
import type { Commands } from "../../ui/Code";

/** The part of the API that pauses executors and lets them go on. */
export const RUNTIME = "/admin/workflow-runtime";

const VERBS = { pause: "pause", resume: "resume", "force-drain": "drain" } as const;

/** The lines that pause, drain, or let go on: one node, or all of them. */
export function runtimeLines(deed: keyof typeof VERBS, node?: string, reason?: string) {
  const options = [
    ...(node === undefined ? [] : [` --node ${quoted(node)}`]),
    ...(reason ? [` --reason ${quoted(reason)}`] : []),
  ];
  return {
    staunch: staunch(`runtime ${VERBS[deed]}${options.join("")}`),
    ...changes("POST", `${RUNTIME}/${deed}`, { node, reason: reason || undefined }),
  };
}

/** What can be done with a node from a terminal: an executor is paused, or its pause is ended. */
export function linesOf(
  { node, roles }: Pick<Api["NodeSeen"], "node" | "roles">,
  deed: "pause" | "resume",
): Commands {
  const seen = { nats: "nats micro ls", curl: curl("/nodes") };
  if (!roles.includes("executor")) return { staunch: staunch("top"), ...seen };
  const request = runtimeLines(deed, node);
  return {
    staunch: request.staunch,
    nats: [seen.nats, request.nats],
    curl: [seen.curl, request.curl],
  };
}
