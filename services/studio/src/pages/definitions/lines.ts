import { withQuery } from "../../api/base";
import { id } from "../../api/client";
import type { Search } from "../../lib/filters";
import { changes, curl, quoted, staunch } from "../../lib/shell";
import type { Commands } from "../../ui/Code";
import { idsOf } from "./labels";

/** The same list of definitions from a terminal; `staunch` lists the latest versions only. */
export function listLines({ q, show, label }: Search): Commands {
  const options = [
    "workflow ls",
    ...(q ? [`--search ${quoted(q)}`] : []),
    ...idsOf(label).map((one) => `--label ${quoted(one)}`),
  ];
  return {
    staunch: show === undefined || show === "Latest" ? staunch(options.join(" ")) : null,
    nats: "nats kv ls staunch_definitions",
    curl: curl(
      withQuery("/workflow-definitions", { searchTerm: q, versionOptions: show ?? "Latest", label }),
    ),
  };
}

type Deed = "publish" | "retract" | "delete";

/** What is done to one definition; `staunch` removes none. */
export const deedLines = (deed: Exclude<Deed, "publish">, definition: string): Commands => {
  const path = `/workflow-definitions/${id(definition)}`;
  return deed === "delete"
    ? changes("DELETE", path)
    : {
        staunch: staunch(`workflow retract ${quoted(definition)}`),
        ...changes("POST", `${path}/retract`, {}),
      };
};

/** The routes for several definitions. */
const BULK: Record<Deed, string> = {
  publish: "/bulk-actions/publish/workflow-definitions/by-definition-ids",
  retract: "/bulk-actions/retract/workflow-definitions/by-definition-ids",
  delete: "/bulk-actions/delete/workflow-definitions/by-definition-id",
};

/** What is done to several definitions: a line of `staunch` is for one. */
export const bulkLines = (deed: Deed, definitionIds: readonly string[]): Commands => ({
  staunch: deed === "delete" ? null : definitionIds.map((one) => staunch(`workflow ${deed} ${quoted(one)}`)),
  ...changes("POST", BULK[deed], { definitionIds }),
});
