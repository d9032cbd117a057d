import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { versionsQuery } from "../../../api/queries";
import { membersOf, textOf } from "../../../model/json";
import { t } from "../../../text";
import { Badge } from "../../../ui/State";
import { Shown } from "../../../ui/States";
import { Time } from "../../../ui/Time";
import { savedAt } from "../../definitions/saved";
import { useView } from "../store";
import { w } from "../words";

/** All saved versions; each can be opened here, and saved as the next one. */
export function Versions() {
  const definition = useView((state) => textOf(membersOf(state.history.doc)?.definitionId));
  const isSaved = useView((state) => state.saved !== undefined);
  const query = useQuery({ ...versionsQuery(definition), enabled: isSaved });
  if (!isSaved) return <p className="p-4 text-sm text-soft">{w.notSaved}</p>;
  return (
    <Shown query={query} rows={3}>
      {(versions) => (
        <ul>
          {versions.map((one) => (
            <li key={one.id} className="flex h-9 items-center gap-3 border-b border-line px-3 text-sm">
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
              <Link className="link" to="/definitions/$id" params={{ id: definition }}>
                {t.definitions.compare}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Shown>
  );
}
