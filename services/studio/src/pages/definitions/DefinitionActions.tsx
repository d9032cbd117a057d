import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { del, download, id, post } from "../../api/client";
import { definitionQuery } from "../../api/queries";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { t } from "../../text";
import { Button, buttonClass } from "../../ui/Button";
import { CopyCommands } from "../../ui/Code";
import { Confirm } from "../../ui/Dialog";
import { Menu } from "../../ui/Menu";
import { complain, notify } from "../../ui/notices";
import { deedLines } from "./lines";
import { Start } from "./Start";
import { Users } from "./Users";

/** Publishes, and says which nodes have the new version. */
async function publish(definition: string): Promise<string> {
  const answer = await post<Api["SavedDefinition"]>(`/workflow-definitions/${id(definition)}/publish`, {});
  if (answer.everywhere === false) {
    const missing = answer.missing ?? [];
    return missing.length === 0
      ? t.definitions.publishedUnconfirmed
      : t.definitions.publishedExcept(missing.join(", "));
  }
  return answer.alreadyPublished ? t.definitions.alreadyPublished : t.definitions.publishedNow;
}

interface Props {
  definition: Api["FullDefinition"];
  /** The version that is published, whichever one is shown. */
  live?: number;
}

/** What can be done with a definition: start and retract mean the version that is published. */
export function DefinitionActions({ definition, live }: Props) {
  const [asked, setAsked] = useState<"retract" | "delete">();
  const [started, setStarted] = useState<Api["FullDefinition"]>();
  const client = useQueryClient();
  const navigate = useNavigate();
  const path = `/workflow-definitions/${id(definition.definitionId)}`;
  const called = definition.name || definition.definitionId;
  const isLive = live === definition.version;
  const close = () => setAsked(undefined);
  const start = async () => {
    // Another version may have other inputs.
    const query = definitionQuery(definition.definitionId, String(live));
    setStarted(isLive ? definition : await client.fetchQuery(query));
  };
  const reload = () => {
    void client.invalidateQueries({ queryKey: ["definition", definition.definitionId] });
    void client.invalidateQueries({ queryKey: ["definitions"] });
  };
  return (
    <div className="flex items-center gap-2">
      <Link
        to="/definitions/$id/edit"
        params={{ id: definition.definitionId }}
        search={definition.isLatest ? {} : { version: String(definition.version) }}
        className={buttonClass()}
      >
        {can("write:workflow-definitions") && !definition.isReadonly ? t.deeds.edit : t.definitions.look}
      </Link>
      {can("exec:workflow-definitions") && live !== undefined && (
        <Button
          tone={isLive ? "main" : undefined}
          icon="instances"
          onClick={() => void start().catch(complain)}
        >
          {isLive ? t.deeds.start : t.definitions.startVersion(live)}
        </Button>
      )}
      {can("publish:workflow-definitions") && !definition.isPublished && definition.isLatest && (
        <Button
          tone="main"
          onClick={() =>
            void publish(definition.definitionId)
              .then((said) => {
                notify(said);
                reload();
              })
              .catch(complain)
          }
        >
          {t.deeds.publish}
        </Button>
      )}
      <Menu
        label={t.actions}
        items={[
          {
            word: t.deeds.export,
            act: () =>
              void download(`${path}/export`, `${definition.definitionId}.json`, {
                query: { versionOptions: String(definition.version) },
              }).catch(complain),
          },
          {
            word: t.definitions.exportAll,
            act: () =>
              void download(`${path}/export`, `${definition.definitionId}.zip`, {
                query: { versionOptions: String(definition.version), includeConsumingWorkflows: true },
              }).catch(complain),
          },
          live !== undefined &&
            can("retract:workflow-definitions") && {
              word: isLive ? t.deeds.retract : t.definitions.retractVersion(live),
              act: () => setAsked("retract"),
            },
          can("delete:workflow-definitions") && {
            word: t.deeds.delete,
            danger: true,
            act: () => setAsked("delete"),
          },
        ]}
      />
      {started && <Start definition={started} onClose={() => setStarted(undefined)} />}
      {asked === "retract" && live !== undefined && (
        <Confirm
          title={t.definitions.retractVersion(live, called)}
          verb={t.definitions.retractVersion(live)}
          act={async () => {
            await post(`${path}/retract`, {});
            notify(t.definitions.retracted(live));
            reload();
          }}
          onClose={close}
        >
          <p>{t.definitions.consequences.retract}</p>
          <Users definition={definition.definitionId} deed="retract" />
          <CopyCommands commands={deedLines("retract", definition.definitionId)} />
        </Confirm>
      )}
      {asked === "delete" && (
        <Confirm
          title={t.definitions.titles.delete(1, called)}
          verb={t.definitions.titles.delete(1)}
          act={async () => {
            await del(path);
            await navigate({ to: "/definitions" });
            client.removeQueries({ queryKey: ["definition", definition.definitionId] });
            void client.invalidateQueries({ queryKey: ["definitions"] });
          }}
          onClose={close}
        >
          <p>{t.definitions.consequences.delete}</p>
          <Users definition={definition.definitionId} deed="delete" />
          <CopyCommands commands={deedLines("delete", definition.definitionId)} />
        </Confirm>
      )}
    </div>
  );
}
