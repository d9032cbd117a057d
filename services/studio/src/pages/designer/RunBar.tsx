import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { instanceQuery, statsQuery } from "../../api/queries";
import type { Api } from "../../api/types";
import { isOver } from "../../lib/states";
import { Button } from "../../ui/Button";
import { StateBadge } from "../../ui/State";
import { type Mark, useStudio } from "./store";
import { w } from "./words";

function markOf(stats: Api["ExecutionStats"]): Mark {
  const status = stats.isFaulted
    ? "Faulted"
    : stats.isBlocked
      ? "Suspended"
      : stats.uncompletedCount > 0
        ? "Running"
        : "Completed";
  return { status, runs: stats.startedCount };
}

/** Follows the run that is shown: its path lights up on the canvas. */
export function RunBar({ instance }: { instance: string }) {
  const studio = useStudio();
  const detail = useQuery({
    ...instanceQuery(instance),
    refetchInterval: (query) => (query.state.data && isOver(query.state.data.subStatus) ? false : 700),
    retry: 5,
  });
  const state = detail.data?.subStatus ?? "Executing";
  const stats = useQuery({ ...statsQuery(instance), refetchInterval: isOver(state) ? false : 700, retry: 5 });
  const { refetch } = stats;
  useEffect(() => {
    if (isOver(state)) void refetch();
  }, [state, refetch]);
  useEffect(() => {
    if (stats.data)
      studio.set({ marks: new Map(stats.data.stats.map((one) => [one.activityId, markOf(one)])) });
  }, [stats.data, studio]);
  return (
    <div
      role="status"
      className="absolute top-3 left-1/2 z-10 flex -translate-x-1/2 items-center gap-3 rounded-md border border-line bg-raised py-1 pr-1 pl-3 text-sm whitespace-nowrap shadow-panel"
    >
      <StateBadge status={state} />
      <Link className="link font-mono text-xs" to="/instances/$id" params={{ id: instance }}>
        {instance.slice(0, 8)} …
      </Link>
      <Button
        tone="quiet"
        icon="close"
        label={w.clearRun}
        onClick={() => studio.set({ run: undefined, marks: undefined })}
      />
    </div>
  );
}
