import { useEffect, useRef, useState } from "react";
import { can } from "../../api/session";
import { readJson } from "../../lib/json";
import { stateWord } from "../../lib/states";
import { type Pin, pinOf } from "../../lib/trials";
import { Button } from "../../ui/Button";
import { Code, pretty } from "../../ui/Code";
import { Select, TextArea } from "../../ui/Field";
import { StateBadge } from "../../ui/State";
import { Section } from "./Section";
import { useStudio, useView } from "./store";
import { askForPin, type Execution, emptyPin, isWhole, resultOf, setPin, typePin } from "./trial";
import { w } from "./words";

/** What one execution of the activity did in the test run. */
function Did({ of }: { of: Execution["of"] }) {
  return (
    <div className="space-y-2">
      <p className="flex items-center gap-2 text-xs text-soft">
        <StateBadge status={of.status} />
        {of.outcomes.join(", ")}
      </p>
      {Object.keys(of.inputs).length > 0 && <Shown title={w.inputs} value={of.inputs} />}
      {Object.keys(of.outputs).length > 0 && <Shown title={w.outputs} value={of.outputs} />}
      {of.fault && (
        <p role="alert" className="text-xs break-words text-faulted">
          {of.fault}
        </p>
      )}
    </div>
  );
}

/** Values under their heading. */
export function Shown({ title, value }: { title: string; value: unknown }) {
  return (
    <div>
      <p className="mb-1 text-xs font-medium text-soft">{title}</p>
      <Code label={title} text={pretty(value)} />
    </div>
  );
}

/** The text of a pinned result: it counts while it is one. */
function PinText({ activity, pin }: { activity: string; pin: Pin }) {
  const studio = useStudio();
  const box = useRef<HTMLDivElement>(null);
  const [text, setText] = useState(() => studio.get().wrongPins.get(activity) ?? pretty(pin));
  const read = readJson(text);
  const error = !read.ok ? read.error : pinOf(read.value) ? undefined : w.pinBad;
  useEffect(() => {
    if (studio.get().pinAt !== activity) return;
    studio.set({ pinAt: undefined });
    const field = box.current?.querySelector("textarea");
    field?.scrollIntoView({ block: "center" });
    field?.focus({ preventScroll: true });
  }, [studio, activity]);
  return (
    <div ref={box}>
      <TextArea
        label={w.pinText}
        hint={w.pinHint}
        error={error}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          const next = readJson(target.value);
          const result = next.ok ? pinOf(next.value) : undefined;
          if (result) setPin(studio, activity, result);
          else typePin(studio, activity, target.value);
        }}
      />
    </div>
  );
}

/** What the activity did in the test run, and its pinned result. */
export function Tried({ activity }: { activity: string }) {
  const studio = useStudio();
  const tested = useView((state) => state.tested);
  const pin = useView((state) => state.trial.pins.get(activity));
  const [chosen, setChosen] = useState(0);
  /** The text of a pin is made anew when the pin comes from elsewhere. */
  const [made, setMade] = useState(0);
  if (!can("exec:tests") || activity.startsWith("/")) return null;
  const own = (tested?.executions ?? []).filter((one) => one.key === activity);
  const shown = own.find((one) => one.number === chosen) ?? own.at(-1);
  const put = (next: Pin | undefined) => {
    if (next) askForPin(studio, activity, next);
    else setPin(studio, activity, next);
    setMade(made + 1);
  };
  const isDone = shown?.of.status === "Completed";
  return (
    <Section title={w.trial} isOpen={shown !== undefined || pin !== undefined}>
      {own.length > 1 && shown && (
        <Select
          label={w.execution}
          options={own.map(({ number, of }) => [String(number), w.executionOf(number, stateWord(of.status))])}
          value={String(shown.number)}
          onChange={(event) => setChosen(Number(event.target.value))}
        />
      )}
      {shown && <Did of={shown.of} />}
      {shown && isDone && !isWhole(shown.of) && <p className="text-xs text-soft">{w.pinCut}</p>}
      {pin && <PinText key={made} activity={activity} pin={pin} />}
      <div className="flex flex-wrap gap-2">
        {shown && isDone && !shown.of.isPinned && isWhole(shown.of) ? (
          <Button icon="pin" onClick={() => put(resultOf(shown.of))}>
            {w.pin}
          </Button>
        ) : (
          !pin && (
            <Button icon="pin" onClick={() => put(emptyPin(studio, activity))}>
              {w.pinAny}
            </Button>
          )
        )}
        {pin && <Button onClick={() => put(undefined)}>{w.pinRemove}</Button>}
      </div>
    </Section>
  );
}
