import { useQuery } from "@tanstack/react-query";
import { get, id } from "../../api/client";
import type { Api } from "../../api/types";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Time } from "../../ui/Time";

interface Props {
  detail: Api["InstanceDetail"];
  at?: number;
  onAt: (at: number | undefined) => void;
  /** Begins to compare this point with another one; nothing while points are compared. */
  onCompare?: (line: number) => void;
}

/** Goes back in time: the graph, the story and the values are as they were after a line of the journal. */
export function Travel({ detail, at, onAt, onCompare }: Props) {
  const last = detail.workflowState.executionLogSequence;
  const past = useQuery({
    queryKey: ["instance", detail.id, "state", at],
    enabled: at !== undefined,
    queryFn: ({ signal }) =>
      get<Api["StateThen"]>(`/workflow-instances/${id(detail.id)}/state`, { at }, signal),
  });
  const go = (line: number) => onAt(line >= last ? undefined : Math.max(1, line));
  return (
    <section
      aria-label={t.instance.travel}
      className={`flex shrink-0 flex-wrap items-center gap-x-2 border-t border-line px-4 py-1 text-sm bottom-0 z-11 [@media(height>=30rem)]:sticky ${at === undefined ? "bg-raised" : "bg-accent-soft"}`}
    >
      <Button
        tone="quiet"
        icon="left"
        label={t.instance.lineBefore}
        disabled={at === 1}
        onClick={() => go((at ?? last) - 1)}
      />
      <Button
        tone="quiet"
        icon="right"
        label={t.instance.lineAfter}
        disabled={at === undefined}
        onClick={() => go((at ?? last) + 1)}
      />
      <input
        type="range"
        aria-label={t.instance.asOf}
        min={1}
        max={Math.max(last, 1)}
        value={at ?? last}
        aria-valuetext={at === undefined ? t.instance.now : t.instance.afterLine(at)}
        onChange={(event) => go(Number(event.target.value))}
        className="h-6 min-w-20 flex-1 basis-20 accent-(--accent)"
      />
      <div className="flex flex-wrap items-center gap-x-2 max-sm:w-full">
        <span className="text-soft tabular-nums max-sm:flex-1 sm:w-60 sm:text-right">
          {at === undefined ? (
            t.instance.lines(last)
          ) : (
            <>
              {t.instance.afterLine(at)} <Time at={past.data?.timestamp} />
            </>
          )}
        </span>
        {onCompare && last > 1 && <Button onClick={() => onCompare(at ?? last)}>{t.comparing.begin}</Button>}
        <Button disabled={at === undefined} onClick={() => onAt(undefined)}>
          {t.instance.now}
        </Button>
      </div>
    </section>
  );
}
