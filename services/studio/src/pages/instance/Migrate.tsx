import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { id, post } from "../../api/client";
import { versionsQuery } from "../../api/queries";
import type { Api } from "../../api/types";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Select } from "../../ui/Field";
import { notify } from "../../ui/notices";
import { Failed, Shown } from "../../ui/States";

interface Props {
  detail: Api["InstanceDetail"];
  onClose: () => void;
  onDone: () => void;
}

/** Goes on with another version: first a dry run, then the change. */
export function Migrate({ detail, onClose, onDone }: Props) {
  const versions = useQuery(versionsQuery(detail.definitionId));
  const [chosen, setChosen] = useState<string>();
  const [checked, setChecked] = useState<{ fits: boolean; reasons: string[] }>();
  const [error, setError] = useState<unknown>();
  const send = (dryRun: boolean) =>
    post<Api["AlterAnswer"]>(`/workflow-instances/${id(detail.id)}/alter`, {
      dryRun,
      alterations: [{ type: "Migrate", targetVersion: Number(chosen) }],
    });
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
      notify(t.instance.migrated(chosen ?? ""));
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
          if (others.length === 0) return <p className="text-sm text-soft">{t.instance.noOtherVersion}</p>;
          return (
            <form onSubmit={check} className="space-y-3">
              <Select
                label={t.instance.targetVersion}
                value={chosen ?? ""}
                required
                options={[
                  ["", "–"],
                  ...others.map((one) => [String(one.version), `v${one.version}`] as const),
                ]}
                onChange={(event) => {
                  setChosen(event.target.value);
                  setChecked(undefined);
                }}
              />
              {checked?.fits && <p className="text-sm text-finished">{t.instance.fits}</p>}
              {checked?.reasons.map((reason) => (
                <p key={reason} className="text-sm text-faulted">
                  {reason}
                </p>
              ))}
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
