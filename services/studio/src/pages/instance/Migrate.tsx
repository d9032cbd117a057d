import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { id, post } from "../../api/client";
import { versionQuery, versionsQuery } from "../../api/queries";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { withId } from "../../graph/activities";
import { useTypeWords } from "../../graph/words";
import { quoted } from "../../lib/shell";
import { stateOf } from "../../lib/states";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { CopyCommands } from "../../ui/Code";
import { Dialog } from "../../ui/Dialog";
import { Select } from "../../ui/Field";
import { notify } from "../../ui/notices";
import { Failed, Shown } from "../../ui/States";
import { alterLines } from "./lines";
import { heldBy, isOpen, mapOf, type Unplaced, unplaced } from "./places";

interface Props {
  detail: Api["InstanceDetail"];
  onClose: () => void;
  onDone: () => void;
}

/** Asks where activities go on that the other version has not, or with another type. */
function Places({
  missing,
  chosen,
  onChange,
}: {
  missing: readonly Unplaced[];
  chosen: Readonly<Record<string, string>>;
  onChange: (activity: string, place: string) => void;
}) {
  if (missing.length === 0) return null;
  return (
    <fieldset className="space-y-2">
      <legend className="mb-1 text-sm text-soft">{t.instance.unplaced}</legend>
      {missing.map(({ id: activity, name, places }) => (
        <Select
          key={activity}
          label={withId(name, activity)}
          hint={places.length === 0 ? t.instance.noPlace : undefined}
          disabled={places.length === 0}
          value={chosen[activity] ?? ""}
          options={[["", "–"], ...places.map(([place, called]) => [place, withId(called, place)] as const)]}
          onChange={(event) => onChange(activity, event.target.value)}
        />
      ))}
    </fieldset>
  );
}

/** Goes on with another version: first a dry run, then the change. */
export function Migrate({ detail, onClose, onDone }: Props) {
  const versions = useQuery(versionsQuery(detail.definitionId));
  const [chosen, setChosen] = useState<string>();
  const [places, setPlaces] = useState<Record<string, string>>({});
  const [checked, setChecked] = useState<{ fits: boolean; reasons: string[] }>();
  const [error, setError] = useState<unknown>();
  const target = versions.data?.find((one) => String(one.version) === chosen)?.id;
  const canRead = can("read:workflow-definitions");
  const here = useQuery({ ...versionQuery(detail.definitionVersionId), enabled: canRead }).data;
  const there = useQuery({ ...versionQuery(target ?? ""), enabled: canRead && target !== undefined }).data;
  const words = useTypeWords();
  const goesOn = stateOf(detail.subStatus) !== "faulted";
  const missing = here && there ? unplaced(heldBy(detail.workflowState), here.root, there.root, words) : [];
  const path = `/workflow-instances/${id(detail.id)}/alter`;
  const map = mapOf(missing, places);
  const migration = { type: "Migrate", targetVersion: Number(chosen), activities: map };
  const send = (dryRun: boolean) => post<Api["AlterAnswer"]>(path, { dryRun, alterations: [migration] });
  const check = async (event: FormEvent) => {
    event.preventDefault();
    setError(undefined);
    try {
      const answer = await send(true);
      setChecked(
        "fits" in answer ? { fits: answer.fits, reasons: answer.reasons } : { fits: true, reasons: [] },
      );
    } catch (failure) {
      setError(failure);
    }
  };
  const migrate = async () => {
    try {
      await send(false);
      notify(t.instance[goesOn ? "migrated" : "migratedFaulted"](chosen ?? ""));
      onDone();
      onClose();
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <Dialog title={t.deeds.migrate} onClose={onClose}>
      <Shown query={versions} rows={3}>
        {(all) => {
          const others = all.filter((one) => one.version !== detail.version);
          if (others.length === 0)
            return (
              <>
                <p className="text-sm text-soft">{t.instance.noOtherVersion}</p>
                <div className="mt-5 flex justify-end">
                  <Button onClick={onClose}>{t.close}</Button>
                </div>
              </>
            );
          return (
            <form onSubmit={check} className="space-y-3">
              <Select
                label={t.instance.targetVersion}
                autoFocus
                value={chosen ?? ""}
                required
                options={[
                  ["", "–"],
                  ...others.map((one) => [String(one.version), `v${one.version}`] as const),
                ]}
                onChange={(event) => {
                  setChosen(event.target.value);
                  setPlaces({});
                  setChecked(undefined);
                }}
              />
              <Places
                missing={missing}
                chosen={places}
                onChange={(activity, place) => {
                  setPlaces({ ...places, [activity]: place });
                  setChecked(undefined);
                }}
              />
              {checked?.fits && (
                <p className="text-sm text-finished">{goesOn ? t.instance.fits : t.instance.fitsFaulted}</p>
              )}
              {checked?.reasons.map((reason) => (
                <p key={reason} className="text-sm text-faulted">
                  {reason}
                </p>
              ))}
              {checked?.fits === false && isOpen(missing, places) && (
                <p className="text-sm text-soft">{t.instance.choosePlaces}</p>
              )}
              {chosen && (
                <CopyCommands
                  commands={alterLines(
                    detail.id,
                    [
                      `instance migrate ${quoted(detail.id)} --to ${chosen}`,
                      ...Object.entries(map ?? {}).map(
                        ([old, place]) => `--map ${quoted(`${old}=${place}`)}`,
                      ),
                    ].join(" "),
                    migration,
                  )}
                />
              )}
              {error !== undefined && <Failed error={error} />}
              <div className="flex justify-end gap-2">
                <Button onClick={onClose}>{t.keep}</Button>
                <Button type="submit" disabled={!chosen}>
                  {t.instance.check}
                </Button>
                <Button tone="main" disabled={!checked?.fits} onClick={() => void migrate()}>
                  {t.instance.migrateTo(chosen ?? "")}
                </Button>
              </div>
            </form>
          );
        }}
      </Shown>
    </Dialog>
  );
}
