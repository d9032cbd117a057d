import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { asProblem } from "../../api/problem";
import { incidentGroupsQuery, lettersQuery } from "../../api/queries";
import { can } from "../../api/session";
import type { Api } from "../../api/types";
import { visible } from "../../lib/visible";
import { t } from "../../text";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { Card } from "../../ui/Panel";
import { Badge } from "../../ui/State";
import { Empty, Shown } from "../../ui/States";
import { Time } from "../../ui/Time";
import { ActivityName } from "../incidents/ActivityName";
import { useDefinitionNames } from "../instances/names";
import { type Counted, isUntaken, labelOf, poolsQuery, useCounted } from "../tasks/queries";

const CAUSES = { page: 0, pageSize: 10 };

/** One cause: what went wrong, where, how often, and the way to all its instances. */
function Cause({ of, definition }: { of: Api["IncidentGroup"]; definition: string }) {
  return (
    <li className="space-y-1 border-b border-line px-4 py-2 text-sm last:border-0">
      <p className="flex min-w-0 flex-wrap items-center gap-x-2">
        <Badge tone="bad">{of.code}</Badge>
        <Link
          to="/incidents"
          search={{ group: of.id }}
          className="link min-w-0 flex-1 basis-32 truncate text-faulted"
          title={of.message}
        >
          {visible(of.cause)}
        </Link>
      </p>
      <p className="flex flex-wrap items-baseline gap-x-3 text-xs text-soft">
        <span className="font-medium text-ink">{t.home.causeOf(of.count, of.instanceCount)}</span>
        <Link to="/definitions/$id" params={{ id: of.definitionId }} className="link">
          {definition}
        </Link>
        <ActivityName of={of} />
        <Time at={of.lastAt} />
      </p>
    </li>
  );
}

/** Tasks for which no worker is there: they wait until somebody starts one. */
function Untaken({ pools }: { pools: readonly Counted[] }) {
  return pools.map((pool) => {
    const label = labelOf(pool.taskType, pool.version);
    return (
      <p key={label} className="flex flex-wrap items-center gap-x-2 border-b border-line px-4 py-2 text-sm">
        <Icon name="tasks" className="text-faulted" />
        <Link to="/tasks" search={{ type: label }} className="link">
          {t.home.untaken(pool.waiting, label)}
        </Link>
        {pool.oldest && (
          <span className="text-xs text-soft">
            {t.home.untakenSince} <Time at={pool.oldest} stands />
          </span>
        )}
      </p>
    );
  });
}

/** Something that could not be asked for: whether it needs somebody is not known. */
function Unasked({ word, query }: { word: string; query: { error: unknown; refetch: () => unknown } }) {
  return (
    <p
      className="flex flex-wrap items-center gap-x-2 border-b border-line px-4 py-2 text-sm"
      title={asProblem(query.error).detail}
    >
      <Icon name="incidents" className="text-faulted" />
      <span className="min-w-0 flex-1">{word}</span>
      <Button
        tone="quiet"
        icon="refresh"
        label={t.home.figureAgain(word)}
        onClick={() => void query.refetch()}
      />
    </p>
  );
}

/** What a person has to look at: failures by their cause, dead letters, and tasks that nobody takes. */
export function NeedsYou() {
  const dead = useQuery({ ...lettersQuery(0, 1), enabled: can("read:bookmark-queue:dead-letters") });
  const letters = dead.data?.totalCount ?? 0;
  const query = useQuery(incidentGroupsQuery(CAUSES));
  const names = useDefinitionNames();
  const pools = useQuery({
    ...poolsQuery,
    refetchInterval: 15_000,
    enabled: can("read:activity-descriptors"),
  });
  const counted = useCounted(pools.data?.items ?? []);
  const untaken = counted.filter(isUntaken);
  const isUnasked = ({ data, error }: { data: unknown; error: unknown }) =>
    data === undefined && Boolean(error);
  const isKnown = !isUnasked(dead) && !isUnasked(pools) && !counted.some(({ isAsking }) => isAsking);
  return (
    <Card
      title={t.home.needsYou}
      actions={
        <Link to="/incidents" className="link text-sm">
          {t.home.allIncidents}
        </Link>
      }
    >
      {isUnasked(dead) && <Unasked word={t.home.lettersUnasked} query={dead} />}
      {isUnasked(pools) && <Unasked word={t.home.untakenUnasked} query={pools} />}
      {letters > 0 && (
        <p className="flex items-center gap-2 border-b border-line px-4 py-2 text-sm">
          <Icon name="messages" className="text-faulted" />
          <Link to="/messages" className="link">
            {t.home.letters(letters)}
          </Link>
        </p>
      )}
      <Untaken pools={untaken} />
      <Shown query={query} rows={5}>
        {({ items, totalCount }) =>
          items.length === 0 ? (
            isKnown && letters === 0 && untaken.length === 0 && <Empty title={t.home.nothingNeeded} />
          ) : (
            <>
              <ul>
                {items.map((one) => (
                  <Cause key={one.id} of={one} definition={names.get(one.definitionId) ?? one.definitionId} />
                ))}
              </ul>
              {totalCount > items.length && (
                <p className="border-t border-line px-4 py-2 text-sm">
                  <Link to="/incidents" className="link">
                    {t.home.moreCauses(totalCount - items.length)}
                  </Link>
                </p>
              )}
            </>
          )
        }
      </Shown>
    </Card>
  );
}
