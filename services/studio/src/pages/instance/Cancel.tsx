import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { id, post } from "../../api/client";
import { instanceQuery } from "../../api/queries";
import type { Api } from "../../api/types";
import { t } from "../../text";
import { CopyCommands } from "../../ui/Code";
import { Confirm } from "../../ui/Dialog";
import { Field } from "../../ui/Field";
import { complain, notify } from "../../ui/notices";
import { endOf, lateFor } from "./cancelling";
import { cancelLines } from "./lines";

interface Props {
  of: string;
  onClose: () => void;
  onDone: () => void;
}

/** Asks whether an instance is to be cancelled, and why. */
export function Cancel({ of, onClose, onDone }: Props) {
  const [reason, setReason] = useState("");
  const now = useQuery(instanceQuery(of)).data;
  return (
    <Confirm
      title={t.instance.cancelThis}
      verb={t.instance.cancelThis}
      isOver={now && lateFor(now.subStatus)}
      act={async () => {
        const path = `/cancel/workflow-instances/${id(of)}`;
        const { is, said } = endOf(await post<Api["Cancelled"]>(path, { reason: reason || undefined }));
        if (is === "late") complain(new Error(said));
        else notify(said);
        onDone();
      }}
      onClose={onClose}
    >
      <p>{t.bulk.consequences.cancel}</p>
      <Field label={t.instance.reason} value={reason} onChange={(event) => setReason(event.target.value)} />
      <CopyCommands commands={cancelLines(of, reason)} />
    </Confirm>
  );
}
