import type { Api } from "../../api/types";
import { curl, staunch } from "../../lib/shell";
import { t } from "../../text";
import { Code, CopyCommands, pretty } from "../../ui/Code";

export function Raw({ detail }: { detail: Api["InstanceDetail"] }) {
  return (
    <div className="space-y-3 p-4">
      <CopyCommands
        commands={{
          staunch: staunch(`instance get ${detail.id}`),
          nats: `nats sub 'staunch.event.*.${detail.id}.>'`,
          curl: curl(`/workflow-instances/${detail.id}`),
        }}
      />
      <Code text={pretty(detail)} label={t.instance.raw} tall />
    </div>
  );
}
