import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { del, id } from "../../api/client";
import { can } from "../../api/session";
import { formatCount } from "../../lib/format";
import { language, t } from "../../text";
import { Button } from "../../ui/Button";
import { Code, CopyCommands, pretty } from "../../ui/Code";
import { Confirm } from "../../ui/Dialog";
import { Facts, SidePanel } from "../../ui/Panel";
import { Time } from "../../ui/Time";
import { documentOf, linesOf, removeLines } from "./lines";
import { OpenTasks } from "./Open";
import { Waiting, Work } from "./Pools";
import { type Counted, labelOf, type Pool, type Type, useCounted } from "./queries";
import { Register } from "./Register";

const number = (value: number) => formatCount(value, language);
const code = (text: string) => <code className="font-mono text-xs break-all">{text}</code>;

function figuresOf(pool: Counted) {
  return [
    [t.tasks.work, <Work key="work" of={pool} />],
    [t.tasks.waiting, <Waiting key="waiting" of={pool} />],
    [t.tasks.inProgress, number(pool.inProgress)],
    [t.tasks.redelivered, number(pool.redelivered)],
    [t.tasks.asking, number(pool.asking)],
    [t.tasks.oldest, <Time key="oldest" at={pool.oldest} />],
    [t.tasks.waitingSince, <Time key="since" at={pool.oldestWaiting} />],
  ] as const;
}

/** Where workers find their tasks, and where their results go. */
function placesOf(pool: Pool | undefined, held: Type | undefined) {
  const consumer = held?.consumer ?? pool?.consumer;
  const places: [string, string | null | undefined][] = [
    [t.tasks.taskSubject, held?.taskSubject],
    [t.tasks.requestSubject, held?.requestSubject],
    [t.tasks.resultSubject, held?.resultSubject],
    [t.cluster.stream, held?.stream],
    [t.tasks.consumer, consumer],
  ];
  return places.flatMap(([word, place]) => (place ? [[word, code(place)] as const] : []));
}

function Removal({ held, onClose, onDone }: { held: Type; onClose: () => void; onDone: () => void }) {
  const client = useQueryClient();
  const label = labelOf(held.type, held.version);
  return (
    <Confirm
      title={t.tasks.remove(label)}
      verb={t.tasks.remove(label)}
      act={async () => {
        await del(`/activity-types/${id(held.type)}/${held.version}`);
        await client.invalidateQueries({ queryKey: ["tasks"] });
        void client.invalidateQueries({ queryKey: ["descriptors"] });
        onDone();
      }}
      onClose={onClose}
    >
      <p>{t.tasks.removeConsequence}</p>
      <CopyCommands commands={removeLines(held)} />
    </Confirm>
  );
}

/** One version of a type: its document, its workers, and what can be done. */
export function Detail({
  type,
  version,
  pool,
  held,
  onClose,
  onDone,
}: {
  type: string;
  version: number;
  pool: Pool | undefined;
  held: Type | undefined;
  onClose: () => void;
  onDone: (label?: string) => void;
}) {
  const [asked, setAsked] = useState<"change" | "remove">();
  const close = () => setAsked(undefined);
  const isTask = pool !== undefined || held?.mode === "task";
  const [counted] = useCounted(pool ? [pool] : []);
  return (
    <SidePanel title={labelOf(type, version)} onClose={onClose}>
      {held?.description && <p className="text-sm">{held.description}</p>}
      <Facts
        facts={[
          ...(counted ? figuresOf(counted) : []),
          held && [t.tasks.mode, t.tasks.modes[held.mode]],
          held?.outcomes?.length ? [t.definitions.outcomes, held.outcomes.join(", ")] : undefined,
          held?.timeout ? [t.tasks.timeout, held.timeout] : undefined,
          held?.retry ? [t.tasks.retry, code(JSON.stringify(held.retry))] : undefined,
          ...placesOf(pool, held),
        ]}
      />
      {counted && counted.done > 0 && (
        <p className="text-sm text-soft">
          {t.tasks.doneOf(number(counted.waiting + counted.done), number(counted.done))}
        </p>
      )}
      {isTask && can("read:workflow-instances") && <OpenTasks type={type} version={version} />}
      {!held && <p className="text-sm text-soft">{t.tasks.notRegistered}</p>}
      {held && (
        <div className="flex flex-wrap gap-2">
          {can("write:activity-types") && (
            <Button onClick={() => setAsked("change")}>{t.tasks.changeType}</Button>
          )}
          {can("delete:activity-types") && (
            <Button tone="danger" onClick={() => setAsked("remove")}>
              {t.deeds.delete}
            </Button>
          )}
        </div>
      )}
      {(["input", "output"] as const).map(
        (part) =>
          held?.[part] && (
            <section key={part}>
              <h3 className="mb-1 text-sm font-medium">{t.tasks[part]}</h3>
              <Code text={pretty(held[part])} label={t.tasks[part]} />
            </section>
          ),
      )}
      <CopyCommands commands={linesOf(type, version, pool, held)} />
      {asked === "change" && held && (
        <Register
          document={documentOf(held)}
          isChange
          onClose={(label) => {
            close();
            if (label) onDone(label);
          }}
        />
      )}
      {asked === "remove" && held && <Removal held={held} onClose={close} onDone={() => onDone()} />}
    </SidePanel>
  );
}
