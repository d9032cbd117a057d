import { useMutation } from "@tanstack/react-query";
import { can } from "../../api/session";
import { membersOf, textOf } from "../../model/json";
import { Button } from "../../ui/Button";
import { Code, pretty } from "../../ui/Code";
import { StateBadge } from "../../ui/State";
import { Failed } from "../../ui/States";
import { testActivity } from "./api";
import { Section } from "./Section";
import { useView } from "./store";
import { w } from "./words";

/** Runs one activity alone, as it was saved. */
export function TestActivity({ activity }: { activity: string }) {
  const definition = useView((state) => textOf(membersOf(state.history.doc)?.definitionId));
  const isSaved = useView((state) => state.saved !== undefined);
  const test = useMutation({ mutationFn: () => testActivity(definition, activity), meta: { quiet: true } });
  if (!can("exec:tests")) return null;
  const ran = test.data;
  return (
    <Section title={w.test} isOpen={false}>
      <p className="text-xs text-soft">{w.testNote}</p>
      <Button busy={test.isPending} disabled={!isSaved} onClick={() => test.mutate()}>
        {w.test}
      </Button>
      {test.error && <Failed error={test.error} />}
      {ran && (
        <div className="space-y-2">
          <StateBadge status={ran.status} />
          <Code label={w.inputs} text={pretty(ran.activityState)} />
          {Object.keys(ran.outputs).length > 0 && <Code label={w.outputs} text={pretty(ran.outputs)} />}
          {ran.exception && <Code label={w.problems} text={String(ran.exception.message ?? "")} />}
          {ran.notSent.length > 0 && (
            <p className="text-xs">
              {w.notSent}: {ran.notSent.join("; ")}
            </p>
          )}
        </div>
      )}
    </Section>
  );
}
