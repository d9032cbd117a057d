import { useMutation } from "@tanstack/react-query";
import { stateOf, stateWord } from "../../../lib/states";
import { nameOf } from "../../../model/activities";
import { Button } from "../../../ui/Button";
import { Code, pretty } from "../../../ui/Code";
import { TextArea } from "../../../ui/Field";
import { Badge, StateBadge, StateIcon } from "../../../ui/State";
import { useStudio, useView } from "../store";
import {
  askForPin,
  changeTrial,
  type Execution,
  emptyPin,
  endOf,
  hideTested,
  type Ran,
  readObject,
  removePins,
  tryOut,
  unreadPins,
} from "../trial";
import { w } from "../words";
import { Refusal } from "./Problems";
import { SaveAsTest } from "./SaveAsTest";

function useName(): (key: string) => string {
  const index = useView((state) => state.index);
  return (key) => {
    const entry = index.get(key);
    return entry ? nameOf(entry.activity, index.type(entry)) : key;
  };
}

/** What a run is given, and the buttons that start one. */
function Given() {
  const studio = useStudio();
  const { input, answers, pins } = useView((state) => state.trial);
  const isKept = useView((state) => state.isKept);
  const index = useView((state) => state.index);
  const selected = useView((state) => (state.selected.length === 1 ? state.selected[0] : undefined));
  const name = useName();
  const run = useMutation({ mutationFn: (until?: string) => tryOut(studio, until), meta: { quiet: true } });
  const wrong = [readObject(input).error, readObject(answers).error];
  const until = selected !== undefined && index.get(selected) ? selected : undefined;
  const unread = unreadPins(
    index,
    useView((state) => state.wrongPins),
  );
  const isStopped = wrong.some(Boolean) || unread.length > 0;
  return (
    <form
      className="space-y-3 p-3"
      onSubmit={(event) => {
        event.preventDefault();
        run.mutate(undefined);
      }}
    >
      <p className="text-xs text-soft">{w.trialNote}</p>
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" tone="main" busy={run.isPending} disabled={isStopped}>
          {w.trial}
        </Button>
        {until !== undefined && (
          <Button disabled={isStopped || run.isPending} onClick={() => run.mutate(until)}>
            {w.trialTo(name(until))}
          </Button>
        )}
        {pins.size > 0 && (
          <>
            <span className="text-xs text-soft">{w.pins(pins.size)}</span>
            <Button tone="quiet" onClick={() => removePins(studio)}>
              {w.pinsRemove}
            </Button>
          </>
        )}
      </div>
      {unread.length > 0 && (
        <p role="alert" className="text-xs text-faulted">
          {w.pinsUnread(unread)}
        </p>
      )}
      <TextArea
        label={w.trialInput}
        hint={w.trialInputHint}
        error={wrong[0]}
        rows={3}
        value={input}
        onChange={(event) => changeTrial(studio, { input: event.target.value })}
      />
      <TextArea
        label={w.trialAnswers}
        hint={w.trialAnswersHint}
        error={wrong[1]}
        rows={4}
        value={answers}
        onChange={(event) => changeTrial(studio, { answers: event.target.value })}
      />
      <p className={`text-xs ${isKept ? "text-soft" : "text-waiting"}`}>
        {isKept ? w.trialKept : w.trialNotKept}
      </p>
    </form>
  );
}

function Path({ executions }: { executions: readonly Execution[] }) {
  const studio = useStudio();
  const name = useName();
  return (
    <ol aria-label={w.trialPath}>
      {executions.map(({ number, key, of }) => (
        <li key={of.id}>
          <button
            type="button"
            onClick={() => studio.reveal(key)}
            className="flex min-h-8 w-full items-center gap-2 px-3 text-left text-sm hover:bg-sunken"
          >
            <span className="w-8 text-right text-xs text-soft tabular-nums">{number}</span>
            <StateIcon state={stateOf(of.status)} still />
            <span className="sr-only">{stateWord(of.status)}</span>
            <span className="min-w-0 truncate font-medium">{name(key)}</span>
            {of.isPinned && <Badge tone="accent">{w.pinned}</Badge>}
            <span className="min-w-0 flex-1 truncate text-xs text-soft">
              {of.fault ?? of.outcomes.join(", ")}
            </span>
          </button>
        </li>
      ))}
    </ol>
  );
}

/** The activities that keep a run from going on: each can be given a result. */
function Blocked({ ran }: { ran: Ran }) {
  const studio = useStudio();
  const index = useView((state) => state.index);
  const name = useName();
  const pin = (key: string) => askForPin(studio, key, emptyPin(studio, key));
  const stop = ran.stopped;
  const isUnanswered = stop?.reason === "Unanswered";
  const rows = [
    ...(stop
      ? [{ key: isUnanswered ? stop.activityId : undefined, text: `${w.trialStopped}: ${stop.message}` }]
      : []),
    ...ran.waits
      .filter((one) => !isUnanswered || one.activityId !== stop?.activityId)
      .map((one) => ({
        key: one.activityId as string | null | undefined,
        text: w.trialWaits(name(one.activityId), one.dueAt ?? one.stimulus),
      })),
  ];
  return rows.map(({ key, text }) => (
    <p key={text} className="flex items-center gap-2 px-3 text-sm">
      <span className="min-w-0 flex-1 break-words">{text}</span>
      {key && index.get(key) && <Button onClick={() => pin(key)}>{w.pinAny}</Button>}
    </p>
  ));
}

function Found() {
  const studio = useStudio();
  const tested = useView((state) => state.tested);
  const isOld = useView((state) => state.tested !== undefined && state.tested.doc !== state.history.doc);
  const refused = useView((state) => state.refused);
  if (refused !== undefined) {
    return (
      <section aria-label={w.trial} className="space-y-2 p-3" data-trial="Refused">
        <p className="text-sm font-medium">{w.trialRefused}</p>
        <Refusal error={refused} />
      </section>
    );
  }
  if (!tested) return <p className="p-3 text-sm text-soft">{w.trialNone}</p>;
  const { ran, executions, request } = tested;
  return (
    <section aria-label={w.trial} className="space-y-2 py-3" data-trial={ran.status}>
      <div role="status" className="flex flex-wrap items-center gap-3 px-3 text-sm">
        <StateBadge {...endOf(ran)} />
        <span className="text-xs text-soft">{w.trialTook(ran.took)}</span>
        {isOld && <span className="text-xs text-waiting">{w.trialOld}</span>}
        {!ran.stopped && <SaveAsTest request={request} />}
        <Button tone="quiet" icon="close" label={w.trialClear} onClick={() => hideTested(studio)} />
      </div>
      <Blocked ran={ran} />
      {ran.incidents.map((one) => (
        <p key={one.activityNodeId + one.message} role="alert" className="px-3 text-sm text-faulted">
          {one.message}
        </p>
      ))}
      <Path executions={executions} />
      <div className="space-y-2 px-3">
        {Object.keys(ran.outputs).length > 0 && <Code label={w.outputs} text={pretty(ran.outputs)} />}
        {ran.lines.length > 0 && <Code label={w.trialLines} text={ran.lines.join("\n")} />}
        {ran.notSent.length > 0 && (
          <p className="text-xs">
            {w.notSent}: {ran.notSent.join("; ")}
          </p>
        )}
      </div>
    </section>
  );
}

/** Runs the workflow as it is drawn, and shows what it did. */
export function TestRun() {
  return (
    <div className="grid min-[1100px]:grid-cols-[minmax(20rem,2fr)_3fr]">
      <Given />
      <div className="min-w-0 border-line min-[1100px]:border-l">
        <Found />
      </div>
    </div>
  );
}
