import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { unfinishedQuery, useRunning, useWaiting } from "../../api/queries";
import { formatCount } from "../../lib/format";
import { language, t } from "../../text";
import { Card } from "../../ui/Panel";
import { Empty, Loading, Shown } from "../../ui/States";
import { useDefinitionNames } from "../instances/names";
import { againAfter, isBehind, type Share, sharesOf } from "./shares";

/** The instances that have not ended. */
const STATE = "Pending,Executing,Suspended";

/** How many run and wait, as a bar. The words beside it say the same. */
function Bar({ of: { runningWidth, waitingWidth } }: { of: Share }) {
  return (
    <svg aria-hidden viewBox="0 0 100 6" preserveAspectRatio="none" className="h-1.5 w-full rounded-full">
      <rect width={100} height={6} className="fill-sunken" />
      <rect width={runningWidth} height={6} className="fill-running" />
      <rect x={runningWidth} width={waitingWidth} height={6} className="fill-waiting" />
    </svg>
  );
}

/** What runs and waits, by definition; each line leads to its instances. */
export function Runs() {
  const figures = [useRunning().data, useWaiting().data];
  const query = useQuery({
    ...unfinishedQuery,
    refetchInterval: ({ state: { data } }) => againAfter(data, figures),
  });
  const names = useDefinitionNames();
  const number = (value: number) => formatCount(value, language);
  return (
    <Card
      title={t.home.runs.title}
      actions={
        <Link to="/instances" search={{ state: STATE }} className="link text-sm">
          {t.home.runs.all}
        </Link>
      }
    >
      <Shown query={query} rows={3}>
        {({ items, totalCount, isCutShort, countedMax }) => (
          <>
            {items.length === 0 &&
              (isBehind(items, figures) ? <Loading rows={3} /> : <Empty title={t.home.runs.none} />)}
            <ul>
              {sharesOf(items).map((one) => (
                <li key={one.id} className="border-b border-line last:border-0">
                  <Link
                    to="/instances"
                    search={{ definition: one.id, state: STATE }}
                    className="block space-y-1 px-4 py-2 text-sm hover:bg-sunken"
                  >
                    <span className="flex flex-wrap items-baseline gap-x-3">
                      <span className="min-w-0 flex-1 truncate text-accent">
                        {names.get(one.id) ?? one.id}
                      </span>
                      <span className="text-xs text-soft tabular-nums">
                        {t.home.runs.sum(number(one.running), number(one.waiting))}
                      </span>
                    </span>
                    <Bar of={one} />
                  </Link>
                </li>
              ))}
            </ul>
            {(totalCount > items.length || isCutShort) && (
              <p className="border-t border-line px-4 py-2 text-xs text-soft">
                {[
                  totalCount > items.length && t.home.runs.more(totalCount - items.length),
                  isCutShort && t.home.runs.cut(number(countedMax)),
                ]
                  .filter(Boolean)
                  .join(" · ")}
              </p>
            )}
          </>
        )}
      </Shown>
    </Card>
  );
}
