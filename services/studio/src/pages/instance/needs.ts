import type { Api } from "../../api/types";

/** Requests of `curl`, by a part of their path, and what they need. */
const OF_PATH: readonly (readonly [RegExp, string])[] = [
  [/\/workflow-instances\/[^/\s]+\/(restart|alter)\b/, "run:alterations"],
  [/\/cancel\/workflow-instances\//, "cancel:workflow-instances"],
  [/\/workflow-instances\/[^/\s]+\/resume\b/, "write:workflow-instances"],
  [/\/events\/[^/\s]+\/trigger\b/, "trigger:event"],
  [/\/tasks\/[^/\s]+\/complete\b/, "tasks:complete"],
  [/\/admin\/workflow-runtime\//, "ManageWorkflowRuntime"],
  [/\/dead-letters\/[^/\s]+\/replay\b/, "replay:bookmark-queue:dead-letters"],
];

/** Lines of `staunch` that have no request beside them. */
const OF_LINE: readonly (readonly [RegExp, string])[] = [
  [/^staunch instance set\b/, "write:workflow-instances"],
  [/^staunch instance resume\b/, "write:workflow-instances"],
  [/^staunch instance (restart|retry)\b/, "run:alterations"],
  [/^staunch why\b/, "read:workflow-instances"],
  [/^staunch top\b/, "read:nodes"],
];

/** The permission of the server that an action needs; undefined where it needs none, or asks no server. */
export function neededBy({ curl, staunch }: Api["FindingAction"]): string | undefined {
  const [all, line] = curl ? [OF_PATH, curl] : [OF_LINE, staunch ?? ""];
  return all.find(([part]) => part.test(line))?.[1];
}
