import { useQuery } from "@tanstack/react-query";
import { download, id, send } from "../api/client";
import { can } from "../api/session";
import { formatBytes } from "../lib/format";
import { beginningOf, type Payload } from "../lib/payloads";
import { t } from "../text";
import { Button } from "./Button";
import { Code } from "./Code";
import { complain } from "./notices";
import { Shown } from "./States";

const SHOWN = 4096;
const PERMISSION = "read:payloads";

const pathOf = (hash: string) => `/payloads/${id(hash)}`;

async function read(hash: string, signal: AbortSignal): Promise<string> {
  const answer = await send(pathOf(hash), { signal, headers: { Accept: "*/*" } });
  return answer.body ? beginningOf(answer.body, SHOWN) : "";
}

/** A huge value, which is kept apart: its beginning, its size, and a way to have all of it. */
export function PayloadValue({ of: { hash, bytes }, label }: { of: Payload; label: string }) {
  const mayRead = can(PERMISSION);
  const query = useQuery({
    queryKey: ["payload", hash],
    queryFn: ({ signal }) => read(hash, signal),
    enabled: mayRead,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const size = formatBytes(bytes);
  if (!mayRead) {
    return (
      <p className="text-sm">
        {t.payload.size(size)}. <span className="text-soft">{t.payload.mayNot(PERMISSION)}</span>
      </p>
    );
  }
  return (
    <div className="min-w-0 space-y-1">
      <div className="flex flex-wrap items-center gap-2 text-xs text-soft">
        <span>{bytes > SHOWN ? t.payload.first(size) : t.payload.whole(size)}</span>
        <Button
          tone="quiet"
          icon="download"
          className="!h-6"
          onClick={() => void download(pathOf(hash), `${label}.json`).catch(complain)}
        >
          {t.payload.download}
        </Button>
      </div>
      <Shown query={query} rows={2}>
        {(text) => <Code text={text} label={label} />}
      </Shown>
    </div>
  );
}
