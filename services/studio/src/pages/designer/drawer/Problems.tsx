import { Link } from "@tanstack/react-router";
import { keyBeside, nameOf, typeOf } from "../../../model/activities";
import type { Fault, Problem } from "../../../model/problems";
import { Icon } from "../../../ui/Icon";
import { Failed } from "../../../ui/States";
import { foundBy } from "../api";
import { withNames } from "../checking";
import { useDraft } from "../drafts";
import { useStudio, useView } from "../store";
import { w } from "../words";

/** Variables, inputs and outputs have a tab of their own. */
const isDeclared = ({ fault, member }: Problem) =>
  fault.is === "name" || /^(variables|inputs|outputs)\b/.test(member ?? "");

interface ListProps {
  problems: readonly Problem[];
  title?: string;
  /** After a problem was chosen. */
  onGo?: () => void;
}

/** Where an unknown type is a workflow that nobody has published yet: what to do, and the way there. */
function Draft({ typeName }: { typeName: string }) {
  const draft = useDraft(typeName);
  if (!draft) return null;
  return (
    <p className="px-3 pb-2 pl-9 text-sm">
      {w.isDraft(typeName)}{" "}
      <Link to="/definitions/$id" params={{ id: draft.definitionId }} className="link">
        {w.publishIt(draft.name ?? draft.definitionId)}
      </Link>
    </p>
  );
}

/** Problems by the names of their activities; a click leads there. */
export function ProblemList({ problems, title, onGo }: ListProps) {
  const studio = useStudio();
  const index = useView((state) => state.index);
  if (problems.length === 0) return null;
  const said = (fault: Fault): Fault =>
    fault.is === "server" ? { ...fault, message: withNames(index, fault.message) } : fault;
  return (
    <>
      {title && <h2 className="px-3 pt-2 text-xs font-semibold text-soft">{title}</h2>}
      <ul>
        {problems.map((problem, at) => {
          const entry = problem.key === undefined ? undefined : index.get(problem.key);
          const key = entry && keyBeside(index, entry);
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list is made anew with each change
            <li key={at}>
              <button
                type="button"
                disabled={!entry && !isDeclared(problem)}
                onClick={() => {
                  if (entry) studio.reveal(entry.key);
                  else studio.set({ drawer: "data" });
                  onGo?.();
                }}
                className="flex min-h-8 w-full items-start gap-2 px-3 py-1.5 text-left text-sm enabled:hover:bg-sunken"
              >
                <span className={`pt-0.5 ${problem.isWarning ? "text-waiting" : "text-faulted"}`}>
                  <Icon name="incidents" />
                </span>
                <span className="w-44 shrink-0 truncate font-medium">
                  {entry ? nameOf(entry.activity, index.type(entry)) : w.workflow}
                  {key !== undefined && (
                    <span className="block truncate font-mono text-xs font-normal text-soft" title={key}>
                      {key}
                    </span>
                  )}
                </span>
                <span className="min-w-0 break-words">{w.fault(said(problem.fault))}</span>
              </button>
              {entry && !index.type(entry) && <Draft typeName={typeOf(entry.activity)} />}
            </li>
          );
        })}
      </ul>
    </>
  );
}

/** Why the server refused: what it found in the definition, or what it said where it found nothing. */
export function Refusal({ error, onGo }: { error: unknown; onGo?: () => void }) {
  const found = foundBy(error);
  return found.length > 0 ? <ProblemList problems={found} onGo={onGo} /> : <Failed error={error} />;
}

/** Whether the server has looked for problems: what is not known to be right is not said to be. */
export function Checked() {
  const studio = useStudio();
  const checked = useView((state) => state.checked);
  const hasNone = useView(({ problems, found }) => problems.length + found.length === 0);
  // The server is never asked for a reader who may not save it.
  if (checked === "no" && studio.isLocked) return hasNone && `${w.noneHere} ${w.noProblemsNote}`;
  if (checked === "yes") return hasNone && `${w.noProblems} ${w.checked}`;
  return w.unchecked[checked];
}

/** All problems; each leads to its activity. */
export function Problems() {
  const local = useView((state) => state.problems);
  const found = useView((state) => state.found);
  const checked = useView((state) => state.checked);
  const hasNone = local.length + found.length === 0;
  return (
    <div className="py-1">
      {(hasNone || (checked !== "yes" && checked !== "no")) && (
        <p className="p-4 text-sm">
          <Checked />
        </p>
      )}
      <ProblemList problems={found} title={w.fromServer} />
      <ProblemList problems={local} />
    </div>
  );
}
