import { COUNTED_MAX, useStateCounts } from "../../api/queries";
import type { SubStatus } from "../../api/types";
import { type InstanceFilter, STATES, toAddress, toRequest } from "../../lib/filters";
import { formatCount } from "../../lib/format";
import { stateOf, stateWord } from "../../lib/states";
import { language, t } from "../../text";
import { StateIcon } from "../../ui/State";

/** How many there are in each state, under the other filters; a click chooses. */
export function StateCounts({
  filter,
  onChange,
}: {
  filter: InstanceFilter;
  onChange: (states: SubStatus[]) => void;
}) {
  const others = { ...filter, states: [], page: 0 };
  const now = Date.now();
  const counts = useStateCounts(toRequest(others, now, 0), toAddress(others));
  return (
    <div className="@container">
      <fieldset className="grid gap-2 @3xs:grid-cols-2 @xl:grid-cols-3 @4xl:grid-cols-6">
        <legend className="sr-only">{t.filters.state}</legend>
        {STATES.map((state) => {
          const on = filter.states.includes(state);
          const count = counts.data?.counts.find((one) => one.subStatus === state)?.count;
          const isMore = counts.data?.isCutShort && count === COUNTED_MAX;
          return (
            <button
              key={state}
              type="button"
              aria-pressed={on}
              onClick={() =>
                onChange(on ? filter.states.filter((one) => one !== state) : [...filter.states, state])
              }
              className={`flex min-h-12 items-center gap-2 rounded-md border px-2 text-left sm:px-3 ${on ? "border-accent bg-accent-soft" : "border-line bg-raised hover:bg-sunken"}`}
            >
              <StateIcon state={stateOf(state)} size={16} still />
              <span className="min-w-0 flex-1 truncate text-sm">{stateWord(state)}</span>
              <span className="font-semibold tabular-nums">
                {count === undefined
                  ? counts.isError
                    ? "–"
                    : "…"
                  : `${formatCount(count, language)}${isMore ? "+" : ""}`}
              </span>
            </button>
          );
        })}
      </fieldset>
    </div>
  );
}
