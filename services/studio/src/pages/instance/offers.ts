import type { Api } from "../../api/types";

/** What this page does in place of a line for a terminal: at once, in a dialog, or on a tab. */
export type Offer =
  | { is: "retry" | "unpause" | "restart" | "migrate" | "cancel" }
  | { is: "tab"; tab: "values" | "waits" }
  | { is: "instance"; id: string };

const OF_INSTANCE = /^staunch instance (\w+) (\S+)/;
const VERBS: Readonly<Record<string, Offer>> = {
  retry: { is: "retry" },
  unpause: { is: "unpause" },
  restart: { is: "restart" },
  migrate: { is: "migrate" },
  cancel: { is: "cancel" },
  set: { is: "tab", tab: "values" },
  resume: { is: "tab", tab: "waits" },
};

/** What the page offers for an action of the server; nothing for one about another instance, or about a node. */
export function offerOf({ staunch, curl }: Api["FindingAction"], instance: string): Offer | undefined {
  const [, verb = "", about] = OF_INSTANCE.exec(staunch ?? "") ?? [];
  if (about === instance) return Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
  const [, other] = /^staunch why ([\w-]+)$/.exec(staunch ?? "") ?? [];
  if (other !== undefined && other !== instance) return { is: "instance", id: other };
  const isSent = /\/(events\/[^/\s]+\/trigger|tasks\/[^/\s]+\/complete)\b/.test(curl ?? "");
  return isSent ? { is: "tab", tab: "waits" } : undefined;
}
