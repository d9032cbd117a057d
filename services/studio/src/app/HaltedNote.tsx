import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { runtimeQuery } from "../api/queries";
import { can } from "../api/session";
import { isHalted } from "../lib/pauses";
import { t } from "../text";
import { Icon } from "../ui/Icon";

/** Says where something can be started that a pause keeps from running. */
export function HaltedNote() {
  const mayAsk = can("read:workflow-runtime") || can("ManageWorkflowRuntime");
  const { data } = useQuery({ ...runtimeQuery, enabled: mayAsk });
  if (!data || !isHalted(data)) return null;
  const { pauseRequestedBy: by, pauseReasonText: reason } = data.state;
  return (
    <p
      role="status"
      className="flex items-start gap-2 rounded-md border border-waiting bg-raised px-3 py-2 text-sm"
    >
      <Icon name="clock" className="mt-0.5 shrink-0 text-waiting" />
      <span className="min-w-0 break-words">
        {t.halted(by ?? undefined, reason ?? undefined)}{" "}
        {can("read:nodes") && (
          <Link to="/cluster" className="link underline">
            {t.rail.cluster}
          </Link>
        )}
      </span>
    </p>
  );
}
