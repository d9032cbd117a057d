import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { del, download, id, post } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { t } from "../../text";
import { Button, buttonClass } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { Menu } from "../../ui/Menu";
import { complain, notify } from "../../ui/notices";
import { Start } from "./Start";

/** Publishes, and says which nodes have the new version. */
async function publish(definition: string): Promise<string> {
  const answer = await post<Api["SavedDefinition"]>(`/workflow-definitions/${id(definition)}/publish`, {});
  if (answer.everywhere === false) return t.definitions.publishedExcept((answer.missing ?? []).join(", "));
  return answer.alreadyPublished ? t.definitions.alreadyPublished : t.definitions.publishedNow;
}

/** What can be done with a definition. */
export function DefinitionActions({ definition }: { definition: Api["FullDefinition"] }) {
  const [asked, setAsked] = useState<"start" | "retract" | "delete">();
  const client = useQueryClient();
  const navigate = useNavigate();
  const path = `/workflow-definitions/${id(definition.definitionId)}`;
  const called = definition.name || definition.definitionId;
  const close = () => setAsked(undefined);
  const reload = () => {
    void client.invalidateQueries({ queryKey: ["definition", definition.definitionId] });
    void client.invalidateQueries({ queryKey: ["definitions"] });
  };
  return (
    <div className="flex items-center gap-2">
      {can("write:workflow-definitions") && !definition.isReadonly && (
        <Link
          to="/definitions/$id/edit"
          params={{ id: definition.definitionId }}
          search={definition.isLatest ? {} : { version: String(definition.version) }}
          className={buttonClass()}
        >
          {t.deeds.edit}
        </Link>
      )}
      {can("exec:workflow-definitions") && definition.isPublished && (
        <Button tone="main" icon="instances" onClick={() => setAsked("start")}>
          {t.deeds.start}
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
          definition.isPublished &&
            can("retract:workflow-definitions") && {
              word: t.deeds.retract,
              act: () => setAsked("retract"),
            },
          can("delete:workflow-definitions") && {
            word: t.deeds.delete,
            danger: true,
            act: () => setAsked("delete"),
          },
        ]}
      />
      {asked === "start" && <Start definition={definition} onClose={close} />}
      {asked === "retract" && (
        <Confirm
          title={t.definitions.titles.retract(1, called)}
          verb={t.definitions.titles.retract(1)}
          act={async () => {
            await post(`${path}/retract`, {});
            reload();
          }}
          onClose={close}
        >
          <p>{t.definitions.consequences.retract}</p>
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
        </Confirm>
      )}
    </div>
  );
}
