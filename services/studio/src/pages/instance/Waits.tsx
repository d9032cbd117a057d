import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { id, post } from "../../api/client";
import { can } from "../../api/session";
import type { Api, Json } from "../../api/types";
import { typeName } from "../../lib/format";
import { isObject, readJson, readObject } from "../../lib/json";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Code } from "../../ui/Code";
import { TextArea } from "../../ui/Field";
import { attempt } from "../../ui/notices";
import { Facts } from "../../ui/Panel";
import { Empty } from "../../ui/States";
import { Time } from "../../ui/Time";
import { Value } from "../../ui/Value";
import { useActivityNames } from "./names";
import { acceptedOutcome, deliver, eventFor, eventPath, isKeptFor, keepFor, type Outcome } from "./sending";

type Bookmark = Api["OpenBookmark"];
type State = Api["InstanceDetail"]["workflowState"];

/** Sends what was typed, once it is read: as an object, or as any JSON. */
interface Send {
  read: typeof readJson | typeof readObject;
  post: (value: Json | undefined) => Promise<Outcome>;
}

interface Deed {
  word: string;
  hint: string;
  permission: string;
  send: Send;
  fail?: Send;
}

function member(payload: unknown, name: string): string {
  if (!isObject(payload)) return "";
  const value = payload[name];
  return typeof value === "string" ? value : "";
}

/** What moves a bookmark: its event, the result of its task, or else to be resumed. */
function deedOf(instance: string, bookmark: Bookmark, state: State): Deed {
  const accepted = acceptedOutcome(state, bookmark.id);
  const send = (path: string, body: unknown, taken?: string) => deliver(path, body, taken, accepted);
  const event = member(bookmark.payload, "EventName");
  if (bookmark.name.endsWith("Event") && event) {
    return {
      word: t.waits.sendEvent(event),
      hint: t.waits.eventHint,
      permission: "trigger:event",
      send: {
        read: readJson,
        post: (input) => send(eventPath(event), eventFor(instance, bookmark.activityInstanceId, input)),
      },
    };
  }
  const task = member(bookmark.payload, "TaskId");
  if (task) {
    return {
      word: t.waits.complete,
      hint: t.waits.resultHint,
      permission: "tasks:complete",
      send: { read: readJson, post: (result) => send(`/tasks/${id(task)}/complete`, { result }) },
      fail: {
        read: readObject,
        post: (error) => {
          const body = { error: error ?? { title: t.waits.failedByHand } };
          return send(`/tasks/${id(task)}/fail`, body, t.waits.failed);
        },
      },
    };
  }
  return {
    word: t.waits.resume,
    hint: t.waits.inputHint,
    permission: "write:workflow-instances",
    send: {
      read: readObject,
      post: (input) => send(`/workflow-instances/${id(instance)}/resume`, { bookmarkId: bookmark.id, input }),
    },
  };
}

function Link({ instance, bookmark }: { instance: string; bookmark: Bookmark }) {
  const [url, setUrl] = useState<string>();
  if (url) return <Code text={url} label={t.waits.link} />;
  return (
    <Button
      icon="copy"
      onClick={() =>
        void attempt(async () => {
          const made = await post<Api["UrlMade"]>(
            `/workflow-instances/${id(instance)}/bookmarks/${id(bookmark.id)}/url`,
            {},
          );
          setUrl(made.url);
          await navigator.clipboard.writeText(made.url).catch(() => undefined);
        }, t.waits.linkMade)
      }
    >
      {t.waits.link}
    </Button>
  );
}

function Wait({
  detail,
  bookmark,
  name,
}: {
  detail: Api["InstanceDetail"];
  bookmark: Bookmark;
  name: string;
}) {
  const client = useQueryClient();
  const { id: instance, updatedAt, workflowState: state } = detail;
  const deed = deedOf(instance, bookmark, state);
  const isKept = isKeptFor(instance, bookmark.id, updatedAt);
  const type = typeName(bookmark.name);
  const [text, setText] = useState("");
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);
  const act = async (send: Send) => {
    const read = send.read(text);
    if (!read.ok) return setError(read.error);
    setError(undefined);
    setBusy(true);
    await attempt(
      async () => {
        const outcome = await send.post(read.value);
        if (outcome.isKept) keepFor(instance, bookmark.id, updatedAt);
        return outcome;
      },
      ({ word }) => word,
    );
    setBusy(false);
    void client.invalidateQueries({ queryKey: ["instance", instance] });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isKept) void act(deed.send);
  };
  const { fail } = deed;
  return (
    <li className="border-b border-line p-4">
      <h2 className="mb-2 font-medium">
        {name} {type !== name && <span className="font-normal text-soft">{type}</span>}
      </h2>
      <Facts
        facts={[
          [t.waits.since, <Time key="since" at={bookmark.createdAt} />],
          bookmark.dueAt ? [t.waits.due, <Time key="due" at={bookmark.dueAt} />] : undefined,
          bookmark.payload
            ? [t.waits.payload, <Value key="payload" value={bookmark.payload} label={t.waits.payload} />]
            : undefined,
        ]}
      />
      <form onSubmit={submit} className="mt-3 space-y-2">
        {can(deed.permission) && (
          <TextArea
            label={deed.hint}
            rows={2}
            value={text}
            error={error}
            onChange={(event) => setText(event.target.value)}
          />
        )}
        {isKept && (
          <p role="status" className="text-sm text-waiting">
            {state.isPaused ? t.waits.sentPaused : t.waits.sent}
          </p>
        )}
        <div className="flex flex-wrap gap-2">
          {can(deed.permission) && (
            <Button type="submit" tone="main" busy={busy} disabled={isKept}>
              {deed.word}
            </Button>
          )}
          {fail && can(deed.permission) && (
            <Button busy={busy} disabled={isKept} onClick={() => void act(fail)}>
              {t.waits.fail}
            </Button>
          )}
          {can("write:workflow-instances") && <Link instance={instance} bookmark={bookmark} />}
        </div>
      </form>
    </li>
  );
}

/** What the instance waits for, each with the button that does it. */
export function Waits({ detail }: { detail: Api["InstanceDetail"] }) {
  const names = useActivityNames(detail.definitionVersionId);
  const { bookmarks } = detail.workflowState;
  const calls = detail.workflowState.calls ?? [];
  if (bookmarks.length === 0 && calls.length === 0) return <Empty title={t.waits.nothing} />;
  return (
    <ul>
      {bookmarks.map((bookmark) => (
        <Wait key={bookmark.id} detail={detail} bookmark={bookmark} name={names(bookmark.activityId)} />
      ))}
      {calls
        .filter((call) => !bookmarks.some((bookmark) => bookmark.id === call.bookmarkId))
        .map((call) => (
          <li key={call.key} className="border-b border-line p-4 text-sm">
            <h2 className="font-medium">{names(call.activityId)}</h2>
            <p>{call.summary}</p>
          </li>
        ))}
    </ul>
  );
}
