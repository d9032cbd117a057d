import { withQuery } from "../../api/base";
import type { Search } from "../../lib/filters";
import { curl, quoted, staunch } from "../../lib/shell";
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
