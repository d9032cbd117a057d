import type { Api } from "../../api/types";
import { t } from "../../text";
import { Code, pretty } from "../../ui/Code";

export function Raw({ detail }: { detail: Api["InstanceDetail"] }) {
  return (
    <div className="p-4">
      <Code text={pretty(detail)} label={t.instance.raw} tall />
    </div>
  );
}
