import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post } from "../../api/client";
import type { Api } from "../../api/types";
import { readObject } from "../../lib/json";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { pretty } from "../../ui/Code";
import { Dialog } from "../../ui/Dialog";
import { TextArea } from "../../ui/Field";
import { notify } from "../../ui/notices";
import { Failed } from "../../ui/States";
import { labelOf } from "./queries";

/** Registers a version of a type, or changes it. */
export function Register({
  document,
  isChange,
  onClose,
}: {
  document: Record<string, unknown>;
  isChange?: boolean;
  onClose: (made?: string) => void;
}) {
  const client = useQueryClient();
  const [text, setText] = useState(() => pretty(document));
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const read = readObject(text);
  const wrong = read.ok ? (read.value ? undefined : t.notObject) : read.error;
  const title = isChange ? t.tasks.changeType : t.tasks.register;
  return (
    <Dialog title={title} wide onClose={() => onClose()}>
      <form
        className="space-y-3"
        onSubmit={async (event) => {
          event.preventDefault();
          if (!read.ok) return;
          setBusy(true);
          setError(undefined);
          try {
            const made = await post<Api["ActivityType"]>("/activity-types", read.value);
            await client.invalidateQueries({ queryKey: ["tasks"] });
            void client.invalidateQueries({ queryKey: ["descriptors"] });
            notify(t.tasks.registered(labelOf(made.type, made.version)));
            onClose(labelOf(made.type, made.version));
          } catch (failure) {
            setError(failure);
            setBusy(false);
          }
        }}
      >
        <p className="text-sm text-soft">{t.tasks.registerHint}</p>
        <TextArea
          label={t.tasks.document}
          rows={18}
          value={text}
          error={wrong}
          onChange={(event) => setText(event.target.value)}
        />
        {error !== undefined && <Failed error={error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={() => onClose()}>{t.keep}</Button>
          <Button type="submit" tone="main" busy={busy} disabled={wrong !== undefined}>
            {title}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
