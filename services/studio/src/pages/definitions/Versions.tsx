import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { del, id, post } from "../../api/client";
import { versionsQuery } from "../../api/queries";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { changes } from "../../lib/shell";
import { t } from "../../text";
import { CopyCommands } from "../../ui/Code";
import { Confirm } from "../../ui/Dialog";
import { Menu } from "../../ui/Menu";
import { attempt } from "../../ui/notices";
import { Badge } from "../../ui/State";
import { Shown } from "../../ui/States";
import { Time } from "../../ui/Time";
import { Compare } from "./Compare";
import { savedAt } from "./saved";

interface Props {
  current: Api["FullDefinition"];
  onVersion: (version: number) => void;
  /** The version that the one that is shown is compared with. */
  compared?: string;
  onCompare: (version: string | undefined) => void;
}

/** All versions, newest first: look at one, make a draft of it, remove it. */
export function Versions({ current, onVersion, compared, onCompare }: Props) {
  const client = useQueryClient();
  const query = useQuery(versionsQuery(current.definitionId));
  const [removed, setRemoved] = useState<number>();
  const [reverted, setReverted] = useState<number>();
  const path = `/workflow-definitions/${id(current.definitionId)}`;
  const draft = query.data?.find((one) => one.isLatest && !one.isPublished);
  const revert = async (version: number) => {
    await attempt(() => post(`${path}/revert/${version}`, {}), t.definitions.reverted(version));
    reload();
  };
  const reload = () => void client.invalidateQueries({ queryKey: ["definition", current.definitionId] });
  return (
    <Shown query={query}>
      {(versions) => (
        <>
          <ul>
            {versions.map((one) => (
              <li
                key={one.id}
                className={`flex min-h-9 items-center gap-3 border-b border-line px-4 text-sm ${one.version === current.version ? "bg-accent-soft" : ""}`}
              >
                <button
                  type="button"
                  className="link font-medium text-accent"
                  onClick={() => onVersion(one.version)}
                >
                  v{one.version}
                </button>
                {one.isPublished && <Badge tone="good">{t.definitions.published}</Badge>}
                {one.isLatest && <Badge>{t.definitions.latestVersion}</Badge>}
                <span className="ml-auto text-soft">
                  <Time at={savedAt(one)} />
                </span>
                <Menu
                  label={t.definitions.versionActions(one.version)}
                  tone="quiet"
                  items={[
                    one.version !== current.version && {
                      word: t.definitions.compare,
                      act: () => onCompare(String(one.version)),
                    },
                    !one.isLatest &&
                      can("publish:workflow-definitions") && {
                        word: t.definitions.revert,
                        act: () => (draft ? setReverted(one.version) : void revert(one.version)),
                      },
                    versions.length > 1 &&
                      can("delete:workflow-definitions") && {
                        word: t.deeds.delete,
                        danger: true,
                        act: () => setRemoved(one.version),
                      },
                  ]}
                />
              </li>
            ))}
          </ul>
          {reverted !== undefined && draft && (
            <Confirm
              title={t.definitions.replaceDraft(draft.version)}
              verb={t.definitions.revert}
              act={() => revert(reverted)}
              onClose={() => setReverted(undefined)}
            >
              <p>{t.definitions.replaceDraftNote(draft.version, reverted)}</p>
            </Confirm>
          )}
          {removed !== undefined && (
            <Confirm
              title={t.definitions.deleteVersion(removed)}
              verb={t.definitions.deleteVersion(removed)}
              act={async () => {
                await del(`${path}/version/${removed}`);
                reload();
              }}
              onClose={() => setRemoved(undefined)}
            >
              <p>{t.definitions.consequences.delete}</p>
              <CopyCommands commands={changes("DELETE", `${path}/version/${removed}`)} />
            </Confirm>
          )}
          {compared && <Compare current={current} other={compared} onClose={() => onCompare(undefined)} />}
        </>
      )}
    </Shown>
  );
}
