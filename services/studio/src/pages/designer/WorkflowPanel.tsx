import { useQuery } from "@tanstack/react-query";
import { get } from "../../api/client";
import type { Api } from "../../api/types";
import { setMember } from "../../model/commands";
import { type Json, membersOf, textOf } from "../../model/json";
import { Button } from "../../ui/Button";
import { Check, Field, Select, TextArea } from "../../ui/Field";
import { addStateToName } from "./keys";
import { useStudio, useView } from "./store";
import { strategyWord } from "./strategies";
import { w } from "./words";

function useStrategies(path: string) {
  return useQuery({
    queryKey: ["descriptors", path],
    queryFn: ({ signal }) => get<Api["Items_Strategy"]>(`/descriptors/${path}`, undefined, signal),
    staleTime: Number.POSITIVE_INFINITY,
  }).data?.items;
}

function withNow(options: (readonly [string, string])[], now: string) {
  return options.some(([value]) => value === now) ? options : [...options, [now, now] as const];
}

/** The workflow itself, where nothing is selected. */
export function WorkflowPanel() {
  const studio = useStudio();
  const doc = useView((state) => membersOf(state.history.doc)) ?? {};
  const view = useView((state) => state.view);
  const activations = useStrategies("workflow-activation-strategies");
  const incidents = useStrategies("incident-strategies");
  const options = membersOf(doc.options);
  const set = (path: readonly string[], value: Json | undefined, label = w.did.set) =>
    studio.do(setMember(studio.get().index, { path: [] }, path, value, label));
  const activation = textOf(options?.activationStrategyType);
  const incident = textOf(options?.incidentStrategyType);
  const isUsable = (options?.usableAsActivity ?? doc.usableAsActivity) === true;
  return (
    <div className="space-y-3 p-3">
      <h2 className="text-sm font-semibold">{w.workflow}</h2>
      {view.kind === "machine" && (
        <Button icon="plus" onClick={() => addStateToName(studio, {})}>
          {w.addState}
        </Button>
      )}
      <Field
        label={w.name}
        value={textOf(doc.name)}
        onChange={(event) => set(["name"], event.target.value, w.did.rename)}
      />
      <TextArea
        label={w.description}
        rows={3}
        value={textOf(doc.description)}
        onChange={(event) => set(["description"], event.target.value || undefined)}
      />
      <Check
        label={w.asActivity}
        checked={isUsable}
        onChange={(event) => set(["options", "usableAsActivity"], event.target.checked)}
      />
      {isUsable && (
        <Field
          label={w.category}
          value={textOf(options?.activityCategory)}
          onChange={(event) => set(["options", "activityCategory"], event.target.value || undefined)}
        />
      )}
      <Select
        label={w.activation}
        options={withNow(
          [
            ["", w.always],
            ...(activations ?? []).map(
              (one) => [one.typeName, strategyWord(one.typeName, one.displayName)] as const,
            ),
          ],
          activation,
        )}
        value={activation}
        onChange={(event) => set(["options", "activationStrategyType"], event.target.value || null)}
      />
      <Select
        label={w.incidents}
        options={withNow(
          [
            ["", w.serverDefault],
            ...(incidents ?? []).map(
              (one) => [one.typeName, strategyWord(one.typeName, one.displayName)] as const,
            ),
          ],
          incident,
        )}
        value={incident}
        onChange={(event) => set(["options", "incidentStrategyType"], event.target.value || null)}
      />
    </div>
  );
}
