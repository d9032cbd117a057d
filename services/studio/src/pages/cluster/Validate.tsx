import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { nodesQuery } from "../../api/queries";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { CopyCommands } from "../../ui/Code";
import { Card, Facts } from "../../ui/Panel";
import { Failed } from "../../ui/States";
import { Duration } from "../../ui/Time";
import { Checks, Mark } from "./Checks";
import type { Validating } from "./validating";
import { type Counts, type End, isPassed, isRunning, linesOf, partWord, type Run } from "./validation";

/** The verdict with its counts; what failed stands here too, so that nobody has to look for it. */
function Verdict({ run, counts }: { run: Run; counts: Counts }) {
  const passed = isPassed(counts);
  const failed = run.parts.flatMap(({ name, checks }) =>
    checks.filter(({ result }) => result === "failed").map((check) => ({ part: name, ...check })),
  );
  return (
    <div className={`m-4 rounded-md border p-4 ${passed ? "border-finished" : "border-2 border-faulted"}`}>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-lg font-semibold">
        <Mark of={passed ? "ok" : "failed"} />
        {passed ? t.validation.passed : t.validation.failed}
      </p>
      <p className="mt-1 tabular-nums">{t.validation.counted(counts.ok, counts.failed, counts.skipped)}</p>
      {failed.length > 0 && (
        <ul aria-label={t.validation.failedChecks} className="mt-2 list-disc space-y-1 pl-5 text-sm">
          {failed.map((check, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list does not change, and two checks may have one name
            <li key={`${at} ${check.name}`} className="break-words">
              {partWord(check.part)}: <strong lang="en">{check.name}</strong>{" "}
              <span lang="en">{check.figures}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** How a run ended that has no verdict. */
function NoVerdict({ run, end }: { run: Run; end: Exclude<End, { is: "complete" }> }) {
  const { ended, noVerdict, remains, removing, stopped } = t.validation;
  return (
    <>
      {end.is === "broken" && <Failed error={end.problem} />}
      {end.is !== "broken" && (
        <p
          className={`m-4 rounded-md border p-4 font-medium ${end.is === "ended" ? "border-faulted text-faulted" : "border-line"}`}
        >
          {end.is === "ended" ? ended : stopped} {end.is === "ended" && <span lang="en">{end.reason}</span>}
        </p>
      )}
      {run.name !== undefined && (
        <p className="px-4 pb-4 text-sm">
          {noVerdict} {end.is === "stopped" ? removing : remains(run.name)}
        </p>
      )}
    </>
  );
}

function Progress({ run }: { run: Run }) {
  const { asking, doing, executors, nodes, time } = t.validation;
  const part = run.part && partWord(run.part);
  return (
    <div className="p-4">
      <Facts
        facts={[
          [time, <Duration key="time" from={run.begunAt} to={run.endedAt} />],
          run.nodes.length > 0 && [nodes, run.nodes.map(({ node, url }) => `${node} (${url})`).join(", ")],
          run.executors.length > 0 && [executors, run.executors.join(", ")],
          isRunning(run) && [
            doing,
            <span key="doing">
              {part ?? asking}
              {run.doing && <span lang="en">: {run.doing}</span>}
            </span>,
          ],
        ]}
      />
    </div>
  );
}

function Shown({ run, onStop }: { run: Run; onStop: () => void }) {
  const { end } = run;
  return (
    <Card
      title={run.name === undefined ? t.validation.tab : t.validation.run(run.name)}
      actions={
        !end && (
          <Button tone="danger" onClick={onStop}>
            {t.validation.stop}
          </Button>
        )
      }
    >
      {!end && <p className="px-4 pt-4 text-sm">{t.validation.leaving}</p>}
      {end?.is === "complete" && <Verdict run={run} counts={end.counts} />}
      {end && end.is !== "complete" && <NoVerdict run={run} end={end} />}
      <Progress run={run} />
      {run.name !== undefined && <Checks run={run} />}
    </Card>
  );
}

/** Runs the six parts of `staunch validate` on this cluster. */
export function Validate({ validating: { run, begin, stop } }: { validating: Validating }) {
  const box = useRef<HTMLDivElement>(null);
  const nodes = useQuery(nodesQuery);
  const urls = nodes.data?.items.flatMap(({ address }) => (address ? [address] : [])) ?? [];
  // The button that is pressed goes away: the focus moves to what it began or ended.
  const then = (act: () => void) => () => {
    act();
    box.current?.focus();
  };
  return (
    <>
      <Card title={t.validation.title}>
        <div className="max-w-3xl space-y-3 p-4 text-sm">
          <p>
            {t.validation.what} {t.validation.load} {t.validation.spares}
          </p>
          {!isRunning(run) && (
            <Button tone="main" onClick={then(begin)}>
              {run ? t.validation.again : t.validation.begin}
            </Button>
          )}
          <CopyCommands commands={linesOf(urls)} />
        </div>
      </Card>
      <div ref={box} tabIndex={-1} className="outline-none">
        {run && <Shown run={run} onStop={then(stop)} />}
      </div>
    </>
  );
}
