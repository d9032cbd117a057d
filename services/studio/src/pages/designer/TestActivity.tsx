import { useMutation } from "@tanstack/react-query";
import { can } from "../../api/session";
import { membersOf, textOf } from "../../model/json";
import { Button } from "../../ui/Button";
import { Code } from "../../ui/Code";
import { StateBadge } from "../../ui/State";
import { Failed } from "../../ui/States";
import { testActivity } from "./api";
import { isChanged } from "./changed";
import { Section } from "./Section";
import { useStudio, useView } from "./store";
import { Shown } from "./Tried";
import { tryEnd } from "./trial";
import { w } from "./words";

/** Runs one activity alone, as it was saved. */
export function TestActivity({ activity }: { activity: string }) {
  const studio = useStudio();
  const definition = useView((state) => textOf(membersOf(state.history.doc)?.definitionId));
  const saved = useView((state) => state.saved);
  const isDirty = useView(isChanged);
  const test = useMutation({
    mutationFn: async () => {
      const { saved } = studio.get();
      const version = String(membersOf(saved)?.version ?? "Latest");
      return { saved, ran: await testActivity(definition, version, activity) };
    },
    meta: { quiet: true },
  });
  if (!can("exec:tests")) return null;
  const ran = test.data?.ran;
  const isOld = test.data !== undefined && (isDirty || test.data.saved !== saved);
  return (
    <Section title={w.test} isOpen={false}>
      <p className="text-xs text-soft">{w.testNote}</p>
      {isDirty && <p className="text-xs text-waiting">{saved ? w.testUnsaved : w.notSaved}</p>}
      <Button busy={test.isPending} disabled={isDirty} onClick={() => test.mutate()}>
        {w.test}
      </Button>
      {test.error && <Failed error={test.error} />}
      {ran && (
        <div className="space-y-2">
          <p role="status" className="flex flex-wrap items-center gap-2">
            <StateBadge {...tryEnd(ran)} />
            {isOld && <span className="text-xs text-waiting">{w.trialOld}</span>}
          </p>
          <Shown title={w.inputs} value={ran.activityState} />
          {Object.keys(ran.outputs).length > 0 && <Shown title={w.outputs} value={ran.outputs} />}
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
