import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type Happening, useFeed, useHeard } from "../../app/live";
import { shortId } from "../../lib/format";
import type { State } from "../../lib/states";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Card } from "../../ui/Panel";
import { StateIcon } from "../../ui/State";
import { Empty, Loading } from "../../ui/States";
import { Time } from "../../ui/Time";
import { useDefinitionNames } from "../instances/names";

const STATES: Record<string, State> = {
  started: "running",
  suspended: "waiting",
  finished: "finished",
  faulted: "faulted",
  cancelled: "cancelled",
};

/** An empty feed: nothing happened, nobody could say, or nobody has said yet. */
function Nothing() {
  const isHeard = useHeard();
  if (isHeard === undefined) return <Loading rows={4} />;
  return isHeard ? (
    <Empty title={t.home.quiet} />
  ) : (
    <Empty title={t.home.notHeard}>{t.home.notHeardHint}</Empty>
  );
}

/** What just happened. While the pointer is on it, or it has the focus, nothing moves. */
export function Feed() {
  const feed = useFeed();
  const names = useDefinitionNames();
  const [held, setHeld] = useState<Happening[]>();
  const shown = held ?? feed;
  const newest = shown[0]?.id;
  const place = held ? feed.findIndex((one) => one.id === newest) : 0;
  // What was the newest may be too old by now to be kept.
  const news = place < 0 ? `${feed.length}+` : place > 0 ? String(place) : undefined;
  return (
    <Card
      title={t.home.feed}
      actions={
        news && (
          <Button tone="quiet" className="!h-7" onClick={() => setHeld(feed)}>
            {t.home.news(news)}
          </Button>
        )
      }
    >
      {shown.length === 0 ? (
        <Nothing />
      ) : (
        <section
          aria-label={t.home.feed}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls must be reached by keyboard
          tabIndex={0}
          className="@container max-h-[32rem] overflow-auto"
          onMouseEnter={() => setHeld(feed)}
          onMouseLeave={() => setHeld(undefined)}
          onFocus={() => setHeld((old) => old ?? feed)}
          onBlur={() => setHeld(undefined)}
        >
          <ul>
            {shown.slice(0, 40).map((one) => (
              <li
                key={one.id}
                className="flex min-h-8 flex-wrap items-center gap-x-2.5 border-b border-line/60 px-4 py-1 text-sm last:border-0"
              >
                <StateIcon state={STATES[one.name] ?? "skipped"} still />
                <span className="min-w-16 text-soft">{t.home.events[one.name] ?? one.name}</span>
                <Link
                  to="/instances/$id"
                  params={{ id: one.instanceId }}
                  title={names.get(one.definitionId) ?? one.definitionId}
                  className="link min-w-0 flex-1 basis-24 truncate"
                >
                  {names.get(one.definitionId) ?? one.definitionId}
                </Link>
                <span className="font-mono text-xs text-soft @max-xl:hidden">{shortId(one.instanceId)}</span>
                <span className="text-xs text-soft">
                  <Time at={one.at} />
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </Card>
  );
}
