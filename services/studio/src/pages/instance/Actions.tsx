import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { del, download, id, post } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { useCommands } from "../../app/commands";
import { canChange, isOver } from "../../lib/states";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { CopyCommands } from "../../ui/Code";
import { Confirm } from "../../ui/Dialog";
import { Menu, type MenuItem } from "../../ui/Menu";
import { attempt, complain } from "../../ui/notices";
import { Cancel } from "./Cancel";
import { deleteLines } from "./lines";
import { Migrate } from "./Migrate";
import { Restart } from "./Restart";
import { retry } from "./retrying";

type Asked = "cancel" | "delete" | "restart" | "migrate";

/** What can be done with an instance in its state. */
export function Actions({ detail }: { detail: Api["InstanceDetail"] }) {
  const [asked, setAsked] = useState<Asked>();
  const client = useQueryClient();
  const navigate = useNavigate();
  const over = isOver(detail.subStatus);
  const path = `/workflow-instances/${id(detail.id)}`;
  const close = () => setAsked(undefined);
  const reload = () => void client.invalidateQueries({ queryKey: ["instance", detail.id] });
  const alter = async (type: "Pause" | "Unpause") => {
    await attempt(
      () => post(`${path}/alter`, { alterations: [{ type }] }),
      type === "Pause" ? t.instance.pausedNow : t.instance.goesOn,
    );
    reload();
  };
  const mayAlter = can("run:alterations");
  const paused = detail.workflowState.isPaused === true;
  const again = async () => {
    await attempt(() => retry(detail.id), String);
    reload();
  };
  const canRetry = detail.workflowState.incidents.length > 0 && mayAlter;
  const canCancel = !over && can("cancel:workflow-instances");
  const items: (MenuItem | false)[] = [
    mayAlter && !over && !paused && { word: t.deeds.pause, act: () => void alter("Pause") },
    mayAlter && paused && { word: t.deeds.unpause, act: () => void alter("Unpause") },
    mayAlter && { word: t.deeds.restart, act: () => setAsked("restart") },
    mayAlter && canChange(detail.subStatus) && { word: t.deeds.migrate, act: () => setAsked("migrate") },
    {
      word: t.deeds.export,
      act: () => void download(`${path}/export`, `${detail.id}.json`).catch(complain),
    },
    can("delete:workflow-instances") && {
      word: t.deeds.delete,
      danger: true,
      act: () => setAsked("delete"),
    },
  ];
  const buttons = [
    canRetry && { word: t.deeds.retry, act: () => void again() },
    canCancel && { word: t.deeds.cancel, act: () => setAsked("cancel") },
  ];
  useCommands([...buttons, ...items].filter((one): one is MenuItem => one !== false));
  return (
    <div className="flex items-center gap-2">
      {canRetry && (
        <Button tone="main" icon="refresh" onClick={again}>
          {t.deeds.retry}
        </Button>
      )}
      {canCancel && <Button onClick={() => setAsked("cancel")}>{t.deeds.cancel}</Button>}
      <Menu label={t.actions} items={items} />
      {asked === "cancel" && <Cancel of={detail.id} onClose={close} onDone={reload} />}
      {asked === "delete" && (
        <Confirm
          title={t.instance.deleteThis}
          verb={t.instance.deleteThis}
          act={async () => {
            await del(path);
            void client.invalidateQueries({ queryKey: ["instances"] });
            await navigate({ to: "/instances" });
          }}
          onClose={close}
        >
          <p>{t.bulk.consequences.delete}</p>
          <CopyCommands commands={deleteLines(detail.id)} />
        </Confirm>
      )}
      {asked === "restart" && <Restart detail={detail} onClose={close} />}
      {asked === "migrate" && <Migrate detail={detail} onClose={close} onDone={reload} />}
    </div>
  );
}
