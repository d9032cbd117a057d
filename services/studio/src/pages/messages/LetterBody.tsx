import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { get, id } from "../../api/client";
import type { Api } from "../../api/types";
import { formatBytes } from "../../lib/format";
import { readObject } from "../../lib/json";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Code } from "../../ui/Code";
import { TextArea } from "../../ui/Field";
import { Shown } from "../../ui/States";

/** What a letter holds; a command can be corrected and published again. */
export function LetterBody({
  letter,
  text,
  onEdit,
  onReplay,
}: {
  letter: string;
  /** What is typed instead of its body. */
  text: string | undefined;
  onEdit: (text: string | undefined) => void;
  onReplay?: (body: unknown) => Promise<void>;
}) {
  const [busy, setBusy] = useState(false);
  const query = useQuery({
    queryKey: ["letter", letter, "body"],
    queryFn: ({ signal }) =>
      get<Api["DeadLetterBody"]>(`/bookmark-queue/dead-letters/${id(letter)}/body`, undefined, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const read = text === undefined ? undefined : readObject(text);
  const wrong = read && (read.ok ? (read.value ? undefined : t.notObject) : read.error);
  return (
    <section className="space-y-2">
      <h3 className="text-sm font-medium">{t.messages.body}</h3>
      <Shown query={query} rows={4}>
        {(held) => {
          const own = held.isReadable ? JSON.stringify(held.body, null, 2) : (held.text ?? "");
          return (
            <>
              <p className="text-xs text-soft">
                {held.contentType} · {formatBytes(held.bytes)}
                {!held.isReadable && ` · ${t.messages.unreadable}`}
              </p>
              {text === undefined ? (
                <Code text={own} label={t.messages.body} />
              ) : (
                <TextArea
                  label={t.messages.edited}
                  hint={t.messages.editedHint}
                  autoFocus
                  rows={12}
                  value={text}
                  error={wrong}
                  onChange={(event) => onEdit(event.target.value)}
                />
              )}
              {onReplay && held.canReplay && (
                <div className="flex gap-2">
                  {text === undefined ? (
                    <Button onClick={() => onEdit(own)}>{t.messages.edit}</Button>
                  ) : (
                    <>
                      <Button onClick={() => onEdit(undefined)}>{t.keep}</Button>
                      <Button
                        tone="main"
                        icon="refresh"
                        busy={busy}
                        disabled={wrong !== undefined}
                        onClick={async () => {
                          if (!read?.ok) return;
                          setBusy(true);
                          await onReplay(read.value);
                          setBusy(false);
                        }}
                      >
                        {t.messages.replayEdited}
                      </Button>
                    </>
                  )}
                </div>
              )}
            </>
          );
        }}
      </Shown>
    </section>
  );
}
