import { t } from "../../text";
import { StateBadge, StateIcon } from "../../ui/State";
import { type Check, type Part, type PartState, partWord, type Run, stateOfPart } from "./validation";

const STATUS = { pending: "Pending", running: "Running", ok: "Finished", failed: "Faulted" };

/** The state of a part or a check: its colour, its icon, its word. */
export function Mark({ of }: { of: PartState }) {
  const word = t.validation.states[of];
  if (of === "pending" || of === "running" || of === "ok" || of === "failed") {
    return <StateBadge status={STATUS[of]} word={word} />;
  }
  return (
    <span className="inline-flex items-center gap-1.5 align-middle font-medium whitespace-nowrap text-soft">
      <StateIcon state="skipped" />
      {word}
    </span>
  );
}

function CheckRow({ check }: { check: Check }) {
  const isFailed = check.result === "failed";
  return (
    <li
      className={`grid gap-x-4 border-l-4 py-1 pr-4 pl-3 md:grid-cols-[9rem_minmax(0,1fr)_minmax(0,2fr)] ${isFailed ? "border-faulted bg-sunken" : "border-transparent"}`}
    >
      <Mark of={check.result} />
      <span lang="en" className={`min-w-0 break-words ${isFailed ? "font-semibold" : ""}`}>
        {check.name}
      </span>
      <span lang="en" className="min-w-0 break-words text-soft tabular-nums">
        {check.figures}
      </span>
    </li>
  );
}

function PartRow({ run, part }: { run: Run; part: Part }) {
  return (
    <li className="py-2">
      <div className="flex flex-wrap items-center gap-x-3 px-4 py-1">
        <h3 className="font-medium">{partWord(part.name)}</h3>
        <Mark of={stateOfPart(run, part)} />
      </div>
      {part.checks.length > 0 && (
        <ul>
          {part.checks.map((check, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: checks are only added, and two may have one name
            <CheckRow key={`${at} ${check.name}`} check={check} />
          ))}
        </ul>
      )}
    </li>
  );
}

/** The parts in their order, each with its checks. */
export function Checks({ run }: { run: Run }) {
  return (
    <ol aria-label={t.validation.list} className="divide-y divide-line border-t border-line text-sm">
      {run.parts.map((part) => (
        <PartRow key={part.name} run={run} part={part} />
      ))}
    </ol>
  );
}
