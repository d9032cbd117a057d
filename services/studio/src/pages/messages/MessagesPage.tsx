import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { del, get, id, post } from "../../api/client";
import { asProblem, Problem } from "../../api/problem";
import { lettersQuery } from "../../api/queries";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { pageOf, useAddress } from "../../app/address";
import { doEach } from "../../lib/each";
import { shortId } from "../../lib/format";
import { reads } from "../../lib/shell";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { CopyCommands } from "../../ui/Code";
import { Confirm } from "../../ui/Dialog";
import { InstanceLink } from "../../ui/InstanceLink";
import { List } from "../../ui/List";
import { attempt, notify } from "../../ui/notices";
import { Page } from "../../ui/Page";
import { Card, Facts, SidePanel } from "../../ui/Panel";
import { Badge } from "../../ui/State";
import type { Column } from "../../ui/Table";
import { Tabs } from "../../ui/Tabs";
import { Time } from "../../ui/Time";
import { LetterBody } from "./LetterBody";
import { Listeners } from "./Listeners";
import { deleteLines, linesOf, oldestFirst, replayAllLines, wasToBegin } from "./letters";
import { PERMISSION } from "./listening";

const PAGE_SIZE = 50;
type Letter = Api["DeadLetter"];

function Instance({ of }: { of: Letter }) {
  const instance = of.workflowInstanceId;
  if (!instance) return <span className="text-soft">–</span>;
  if (!wasToBegin(of)) return <InstanceLink id={instance} />;
  return (
    <span title={instance}>
      <code className="font-mono text-xs">{shortId(instance)}</code>{" "}
      <span className="text-soft">{t.messages.neverBegun}</span>
    </span>
  );
}

async function replay(letter: string, body?: unknown): Promise<void> {
  const path = `/bookmark-queue/dead-letters/${id(letter)}/replay`;
  const answer = await post<Api["Replayed"]>(path, { body });
  const { notReplayed } = t.messages;
  if (!answer.replayed) throw new Problem(0, notReplayed, answer.reason ?? notReplayed, `POST ${path}`);
}

function Detail({ letter, onClose, onDone }: { letter: Letter; onClose: () => void; onDone: () => void }) {
  const [asked, setAsked] = useState(false);
  const [text, setText] = useState<string>();
  const path = `/bookmark-queue/dead-letters/${id(letter.id)}`;
  return (
    <SidePanel title={t.messages.letter(letter.id)} onClose={onClose}>
      <Facts
        facts={[
          [t.messages.reason, letter.lastErrorMessage ?? letter.reason ?? "–"],
          [
            t.messages.subject,
            <code key="subject" className="font-mono text-xs break-all">
              {letter.subject ?? "–"}
            </code>,
          ],
          [t.messages.kind, letter.lastErrorType ?? "–"],
          [t.messages.died, <Time key="died" at={letter.deadLetteredAt} />],
          [t.messages.accepted, <Time key="accepted" at={letter.originalCreatedAt} />],
          [t.messages.deliveries, String(letter.deliveryAttempts)],
          [t.columns.instance, <Instance key="instance" of={letter} />],
          letter.activityTypeName ? [t.messages.activity, letter.activityTypeName] : undefined,
          letter.correlationId ? [t.columns.correlation, letter.correlationId] : undefined,
        ]}
      />
      <div className="flex gap-2">
        {letter.canReplay && can("replay:bookmark-queue:dead-letters") && (
          <Button
            tone="main"
            icon="refresh"
            onClick={async () => {
              if (await attempt(() => replay(letter.id), t.messages.replayed)) onDone();
            }}
          >
            {t.messages.replay}
          </Button>
        )}
        {can("delete:bookmark-queue:dead-letters") && (
          <Button tone="danger" onClick={() => setAsked(true)}>
            {t.deeds.delete}
          </Button>
        )}
      </div>
      {can("replay:bookmark-queue:dead-letters") && (
        <LetterBody
          letter={letter.id}
          text={text}
          onEdit={setText}
          onReplay={
            letter.canReplay
              ? async (body) => {
                  if (await attempt(() => replay(letter.id, body), t.messages.replayed)) onDone();
                }
              : undefined
          }
        />
      )}
      <CopyCommands commands={linesOf(letter, text)} />
      {asked && (
        <Confirm
          title={t.messages.deleteOne}
          verb={t.messages.deleteOne}
          act={async () => {
            await del(path);
            onDone();
          }}
          onClose={() => setAsked(false)}
        >
          <p>{t.messages.deleteConsequence}</p>
          <CopyCommands commands={deleteLines([letter.id])} />
        </Confirm>
      )}
    </SidePanel>
  );
}

/** What can be done with the chosen letters. */
function Chosen({ count, onAsk }: { count: number; onAsk: (deed: "replay" | "delete") => void }) {
  return (
    <div className="flex min-h-10 items-center gap-2 border-b border-line px-3 py-1 text-sm">
      <span className="text-soft">{t.bulk.chosen(count)}</span>
      {can("replay:bookmark-queue:dead-letters") && (
        <Button onClick={() => onAsk("replay")}>{t.messages.replay}</Button>
      )}
      {can("delete:bookmark-queue:dead-letters") && (
        <Button tone="danger" onClick={() => onAsk("delete")}>
          {t.deeds.delete}
        </Button>
      )}
    </div>
  );
}

/** The commands that could not be applied, each with its reason, to be replayed or removed. */
function Letters() {
  const [search, change] = useAddress();
  const client = useQueryClient();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [asked, setAsked] = useState<"replay" | "delete">();
  const page = pageOf(search);
  const query = useQuery(lettersQuery(page, PAGE_SIZE));
  const reload = () => {
    setSelected(new Set());
    change({ letter: undefined });
    void client.invalidateQueries({ queryKey: ["letters"] });
  };
  const { letter } = search;
  const here = query.data?.items.find((one) => one.id === letter);
  // A link may name one of another page, or one that is gone.
  const other = useQuery({
    queryKey: ["letters", "one", letter],
    queryFn: ({ signal }) =>
      get<Letter>(`/bookmark-queue/dead-letters/${id(letter ?? "")}`, undefined, signal),
    enabled: letter !== undefined && query.data !== undefined && !here,
  });
  const open = letter === undefined ? undefined : (here ?? other.data);
  const columns: Column<Letter>[] = [
    {
      key: "id",
      head: t.columns.number,
      cell: (row) => (
        <button type="button" className="link text-accent" onClick={() => change({ letter: row.id })}>
          {row.id}
        </button>
      ),
    },
    { key: "died", head: t.messages.died, cell: (row) => <Time at={row.deadLetteredAt} /> },
    {
      key: "reason",
      head: t.messages.reason,
      className: "!max-w-72",
      cell: (row) => {
        const reason = row.lastErrorMessage ?? row.reason ?? "–";
        return <span title={reason}>{reason}</span>;
      },
    },
    {
      key: "subject",
      head: t.messages.subject,
      className: "!max-w-72",
      cell: (row) => (
        <code className="font-mono text-xs" title={row.subject ?? undefined}>
          {row.subject}
        </code>
      ),
    },
    { key: "instance", head: t.columns.instance, cell: (row) => <Instance of={row} /> },
    {
      key: "can",
      head: t.filters.state,
      cell: (row) =>
        row.canReplay ? (
          <Badge tone="accent">{t.messages.canReplay}</Badge>
        ) : (
          <Badge>{t.messages.cannotReplay}</Badge>
        ),
    },
  ];
  const ids = oldestFirst(selected);
  const act = async () => {
    const { done, left, error } = await doEach(ids, (one) =>
      asked === "replay" ? replay(one) : del(`/bookmark-queue/dead-letters/${id(one)}`),
    );
    reload();
    if (asked === "replay" && done.length > 0) notify(t.messages.replayedCount(done.length));
    if (left.length > 0) {
      // Those that are left can be asked for again.
      setSelected(new Set(left));
      throw error;
    }
    if (asked === "delete") notify(t.bulk.deleted(done.length, ids.length));
  };
  return (
    <>
      {letter && !open && other.error && (
        <p
          role="status"
          className="mb-4 flex items-center gap-2 rounded-md border border-waiting bg-raised px-3 py-1 text-sm"
        >
          <span className="min-w-0 flex-1 break-words">
            {t.messages.noLetter(letter)} {asProblem(other.error).detail}
          </span>
          <Button tone="quiet" icon="close" label={t.close} onClick={() => change({ letter: undefined })} />
        </p>
      )}
      <Card title={t.messages.letters}>
        <List
          query={query}
          rows={({ items }) => items}
          paged={{ total: ({ totalCount }) => totalCount, size: PAGE_SIZE }}
          empty={t.messages.nothing}
          emptyHint={t.messages.nothingHint}
          bar={ids.length > 0 && <Chosen count={ids.length} onAsk={setAsked} />}
          label={t.messages.letters}
          columns={columns}
          rowKey={(row) => row.id}
          selected={selected}
          onSelect={setSelected}
          current={search.letter}
        />
      </Card>
      <div className="mt-4">
        <CopyCommands
          commands={{
            staunch: "staunch dead ls",
            nats: "nats stream info STAUNCH_DEAD",
            curl: reads("/bookmark-queue/dead-letters").curl,
          }}
        />
      </div>
      {open && (
        <Detail key={open.id} letter={open} onClose={() => change({ letter: undefined })} onDone={reload} />
      )}
      {asked && (
        <Confirm
          title={t.messages.titles[asked](ids.length)}
          verb={t.messages.titles[asked](ids.length)}
          count={asked === "delete" ? ids.length : undefined}
          act={act}
          onClose={() => setAsked(undefined)}
        >
          <p>{asked === "delete" ? t.messages.deleteConsequence : t.messages.replayConsequence}</p>
          <CopyCommands commands={asked === "delete" ? deleteLines(ids) : replayAllLines(ids)} />
        </Confirm>
      )}
    </>
  );
}

const TABS = ["letters", "listeners"] as const;
const NEEDS = { letters: "read:bookmark-queue:dead-letters", listeners: PERMISSION };
const WORDS = { letters: t.messages.letters, listeners: t.listeners.title };
const NOTES = { letters: t.messages.note, listeners: t.listeners.note };

export function MessagesPage() {
  const [search, change] = useAddress();
  const tabs = TABS.filter((one) => can(NEEDS[one]));
  const tab = tabs.find((one) => one === search.tab) ?? tabs[0] ?? "letters";
  return (
    <Page title={t.rail.messages} note={NOTES[tab]}>
      <Tabs
        label={t.rail.messages}
        tabs={tabs.map((key) => ({ key, word: WORDS[key] }))}
        current={tab}
        onChange={(next) =>
          change({
            tab: next === tabs[0] ? undefined : next,
            page: undefined,
            letter: undefined,
            listener: undefined,
          })
        }
      >
        <div className="pt-4">{tab === "listeners" ? <Listeners /> : <Letters />}</div>
      </Tabs>
    </Page>
  );
}
