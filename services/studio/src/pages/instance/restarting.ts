import { readObject } from "../../lib/json";
import { curl, natsApi, quoted, staunch } from "../../lib/shell";
import type { Commands } from "../../ui/Code";

/** What somebody typed as a JSON object, on one line; undefined where it is nothing, or no object. */
function lineOf(text: string): string | undefined {
  const read = readObject(text);
  return read.ok && read.value && Object.keys(read.value).length > 0 ? JSON.stringify(read.value) : undefined;
}

/** The same from a terminal. `input` is one that was changed: only the API takes another than that of the instance. */
export function restartLines(
  instance: string,
  activity: string,
  { input, variables }: { input?: string; variables: string },
): Commands {
  const given = input === undefined ? undefined : (lineOf(input) ?? "{}");
  const known = lineOf(variables);
  const body = `{${[
    activity && `"activityId":${JSON.stringify(activity)}`,
    given && `"input":${given}`,
    known && `"variables":${known}`,
  ]
    .filter(Boolean)
    .join(",")}}`;
  const options = [activity && `--from ${quoted(activity)}`, known && `--variables ${quoted(known)}`];
  const path = `/workflow-instances/${encodeURIComponent(instance)}/restart`;
  return {
    staunch: given
      ? null
      : staunch(["instance restart", quoted(instance), ...options.filter(Boolean)].join(" ")),
    nats: natsApi("POST", path, JSON.parse(body)),
    curl: curl(path, `-X POST -H "Content-Type: application/json" -d ${quoted(body)}`),
  };
}
