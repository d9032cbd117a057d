import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { versionsQuery } from "../../../api/queries";
import { membersOf, textOf } from "../../../model/json";
import { t } from "../../../text";
import { Button } from "../../../ui/Button";
import { Badge } from "../../../ui/State";
import { Shown } from "../../../ui/States";
import { Time } from "../../../ui/Time";
import { savedAt } from "../../definitions/saved";
import { openDefinition } from "../api";
import { Changes } from "../Changes";
import { isChanged } from "../changed";
import { changesSince } from "../publishing";
import { useStudio, useView } from "../store";
import { w } from "../words";

/** What is otherwise in the graph than in a saved version. */
function Compared({ version }: { version: number }) {
  const studio = useStudio();
  const doc = useView((state) => state.history.doc);
  const definition = textOf(membersOf(doc)?.definitionId);
  const query = useQuery({
    queryKey: ["definition", definition, "to-compare", version],
    queryFn: async ({ signal }) => (await openDefinition(definition, String(version), signal)).doc,
    gcTime: 0,
  });
  const changes = useMemo(
    () => (query.data === undefined ? [] : changesSince(query.data, doc, studio.types)),
    [query.data, doc, studio],
  );
  return (
    <Shown query={query} rows={3}>
      {() => <Changes title={w.sinceVersion(version)} changes={changes} isTop />}
    </Shown>
  );
}

/** All saved versions; each can be opened here, and saved as the next one, or compared with what is drawn. */
export function Versions() {
  const definition = useView((state) => textOf(membersOf(state.history.doc)?.definitionId));
  const isSaved = useView((state) => state.saved !== undefined);
  const opened = useView((state) => Number(membersOf(state.saved)?.version ?? 0));
  const isDirty = useView(isChanged);
  const [compared, setCompared] = useState<number>();
  const query = useQuery({ ...versionsQuery(definition), enabled: isSaved });
  if (!isSaved) return <p className="p-4 text-sm text-soft">{w.notSaved}</p>;
  return (
    <Shown query={query} rows={3}>
      {(versions) => (
        <ul>
          {versions.map((one) => (
            <li key={one.id} className="border-b border-line px-3 text-sm">
              <div className="flex h-9 items-center gap-3">
                <Link
                  className="link font-medium"
                  to="/definitions/$id/edit"
                  params={{ id: definition }}
                  search={{ drawer: "versions", ...(one.isLatest ? {} : { version: String(one.version) }) }}
                >
                  {w.version(one.version)}
                </Link>
                {one.isPublished && <Badge tone="good">{t.definitions.published}</Badge>}
                {one.isLatest && <Badge>{t.definitions.latestVersion}</Badge>}
                <span className="flex-1" />
                <Time at={savedAt(one)} />
                {/* The version that is open is what is drawn, as long as nothing was changed. */}
                {(one.version !== opened || isDirty) && (
                  <Button
                    tone="quiet"
                    aria-label={w.compareVersion(one.version)}
                    aria-expanded={one.version === compared}
                    onClick={() => setCompared(one.version === compared ? undefined : one.version)}
                  >
                    {w.compareGraph}
                  </Button>
                )}
              </div>
              {one.version === compared && (one.version !== opened || isDirty) && (
                <div className="pb-3">
                  <Compared version={one.version} />
                </div>
              )}
            </li>
          ))}
        </ul>
      )}
    </Shown>
  );
}
