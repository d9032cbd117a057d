import { useState } from "react";
import { id, post } from "../../api/client";
import { t } from "../../text";
import { Confirm } from "../../ui/Dialog";
import { Field } from "../../ui/Field";

interface Props {
  of: string;
  onClose: () => void;
  onDone: () => void;
}

/** Asks whether an instance is to be cancelled, and why. */
export function Cancel({ of, onClose, onDone }: Props) {
  const [reason, setReason] = useState("");
  return (
    <Confirm
      title={t.instance.cancelThis}
      verb={t.instance.cancelThis}
      act={async () => {
        await post(`/cancel/workflow-instances/${id(of)}`, { reason: reason || undefined });
        onDone();
      }}
      onClose={onClose}
    >
      <p>{t.bulk.consequences.cancel}</p>
      <Field label={t.instance.reason} value={reason} onChange={(event) => setReason(event.target.value)} />
    </Confirm>
  );
}
