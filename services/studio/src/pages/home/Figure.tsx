import { Link } from "@tanstack/react-router";
import { asProblem } from "../../api/problem";
import type { Search } from "../../lib/filters";
import type { State } from "../../lib/states";
import { language, t } from "../../text";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { Spark } from "../../ui/Spark";
import { StateIcon } from "../../ui/State";
import { type Counted, countedWord, shownOf } from "./figures";

interface Props {
  word: string;
  query: Counted & { refetch: () => unknown };
  state: State;
  to: "/instances" | "/cluster";
  search?: Search;
  alarm?: boolean;
  /** The counts of the last hour, and whether they are cut short. */
  spark?: { counts?: readonly number[]; isCutShort?: boolean };
}

const BOX = "flex min-w-0 flex-col gap-0.5 rounded-md border bg-raised px-4 py-3";

function Word({ word, state }: Pick<Props, "word" | "state">) {
  return (
    <span className="flex items-center gap-1.5 text-sm [overflow-wrap:anywhere] text-soft">
      <StateIcon state={state} still />
      {word}
    </span>
  );
}

/** A figure, which leads to its list. One that nobody could count says so, and is asked for again. */
export function Figure({ word, query, state, to, search, alarm, spark }: Props) {
  const shown = shownOf(query);
  if (shown === "failed")
    return (
      <div className={`${BOX} border-faulted`} title={asProblem(query.error).detail}>
        <Word word={word} state={state} />
        <span className="flex flex-wrap items-center gap-2 text-sm text-faulted">
          <Icon name="incidents" />
          {t.home.figureFailed}
          <Button
            tone="quiet"
            icon="refresh"
            label={t.home.figureAgain(word)}
            onClick={() => void query.refetch()}
          />
        </span>
      </div>
    );
  return (
    <Link
      to={to}
      search={search ?? {}}
      className={`${BOX} hover:bg-sunken ${alarm && query.data ? "border-faulted" : "border-line"}`}
    >
      <Word word={word} state={state} />
      <span className="flex items-center gap-3">
        <span className="text-2xl font-semibold tabular-nums">
          {query.data === undefined ? "…" : countedWord(query.data, language)}
        </span>
        {shown === "old" && (
          <span className="text-waiting" title={t.home.figureOld}>
            <Icon name="incidents" />
            <span className="sr-only">{t.home.figureOld}</span>
          </span>
        )}
        {spark?.counts && (
          <Spark
            counts={spark.counts}
            isCutShort={spark.isCutShort}
            className="h-6 w-12 min-w-0 flex-1 text-soft"
          />
        )}
      </span>
    </Link>
  );
}
