import { id } from "../../api/client";
import type { Api } from "../../api/types";
import { changes, quoted, reads, staunch } from "../../lib/shell";
import type { Commands } from "../../ui/Code";

/** Which schedules a list shows. */
interface Narrowed {
  definitionId?: string;
  isPaused?: boolean;
}

/** The same list from a terminal. `staunch` has no option for those that are not paused. */
export const listLines = ({ definitionId, isPaused }: Narrowed): Commands => ({
  staunch:
    isPaused === false
      ? null
      : staunch(
          [
            "schedule ls",
            ...(definitionId ? [`--definition ${quoted(definitionId)}`] : []),
            ...(isPaused ? ["--paused"] : []),
          ].join(" "),
        ),
  ...reads("/schedules", { definitionId, isPaused }),
});

/** What can be done with one schedule from a terminal: a pause or its end, and a start now. */
export function linesOf(schedule: Pick<Api["ScheduleShown"], "id" | "isPaused">): Commands {
  const path = `/schedules/${id(schedule.id)}`;
  const pausing = schedule.isPaused
    ? changes("POST", `${path}/resume`, { catchUp: false })
    : changes("POST", `${path}/pause`);
  const trigger = changes("POST", `${path}/trigger`);
  return {
    staunch: [
      staunch(`schedule ${schedule.isPaused ? "resume" : "pause"} ${quoted(schedule.id)}`),
      staunch(`schedule trigger ${quoted(schedule.id)}`),
    ],
    nats: [pausing.nats, trigger.nats],
    curl: [pausing.curl, trigger.curl],
  };
}
