import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { instancesQuery } from "../../../api/queries";
import { membersOf, textOf } from "../../../model/json";
import { Button } from "../../../ui/Button";
import { StateBadge, Version } from "../../../ui/State";
import { Shown } from "../../../ui/States";
import { Time } from "../../../ui/Time";
import { useStudio, useView } from "../store";
import { w } from "../words";

/** The latest instances of this workflow; one can be shown on the canvas. */
export function Runs() {
  const studio = useStudio();
  const definition = useView((state) => textOf(membersOf(state.history.doc)?.definitionId));
  const shown = useView((state) => state.run?.id);
  const request = { definitionId: definition, page: 0, pageSize: 20 };
  const query = useQuery({
    ...instancesQuery(request, ["designer", definition, shown]),
    refetchInterval: 3000,
  });
  return (
    <Shown query={query} rows={3}>
      {(page) =>
        page.items.length === 0 ? (
          <p className="p-4 text-sm text-soft">{w.noRuns}</p>
        ) : (
          <ul aria-label={w.runsOf}>
            {page.items.map((one) => (
              <li key={one.id} className="flex h-9 items-center gap-3 border-b border-line px-3 text-sm">
                <span className="w-32">
                  <StateBadge status={one.subStatus} />
                </span>
                <Link
                  className="link min-w-0 flex-1 truncate font-mono text-xs"
                  to="/instances/$id"
                  params={{ id: one.id }}
                >
                  {one.name || one.id}
                </Link>
                <span className="text-xs text-soft">
                  <Version of={one.version} />
                </span>
                <Time at={one.createdAt} />
                <Button
                  tone="quiet"
                  onClick={() =>
                    studio.set(
                      shown === one.id
                        ? { run: undefined, marks: undefined }
                        : {
                            run: { id: one.id, state: one.subStatus },
                            tested: undefined,
                            refused: undefined,
                          },
                    )
                  }
                >
                  {shown === one.id ? w.clearRun : w.open}
                </Button>
              </li>
            ))}
          </ul>
        )
      }
    </Shown>
  );
}
