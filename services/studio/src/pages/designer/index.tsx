// Routes: `/definitions/new` shows DesignerNew, `/definitions/$id/edit` shows DesignerPage.
import { useQuery } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { can } from "../../api/session";
import { activityTypesQuery } from "../../graph/words";
import type { Types } from "../../model/descriptors";
import { newDefinition, newId } from "../../model/make";
import { t } from "../../text";
import { Empty, Failed, Loading } from "../../ui/States";
import { readAddress } from "./address";
import { type Opened, openDefinition } from "./api";
import { Designer } from "./Designer";
import { SAVING, Studio } from "./store";
import { recall } from "./trial";
import { w } from "./words";

/** How often the designer asks for types that workers have registered since. */
const TYPES_MS = 15_000;

const useTypes = () => useQuery({ ...activityTypesQuery, refetchInterval: TYPES_MS });

function Open({ types, opened, newer }: { types: Types; opened: Opened; newer?: string }) {
  const [studio] = useState(() => {
    const made = new Studio(opened.doc, types, opened.doc, opened.etag, newer);
    const { page, selected, drawer } = readAddress(window.location.search);
    made.isLocked = !can(SAVING);
    if (made.isLocked) made.set({ left: "tree" });
    made.open(page, selected);
    if (drawer) made.set({ drawer });
    recall(made);
    return made;
  });
  useEffect(() => studio.learn(types), [studio, types]);
  return <Designer studio={studio} />;
}

/** Edits a definition: its latest version, or the one of this number. */
export function DefinitionDesigner({
  definition,
  version = "Latest",
}: {
  definition: string;
  version?: string;
}) {
  const types = useTypes();
  const [key] = useState(newId);
  const opened = useQuery({
    queryKey: ["designer", definition, version, key],
    queryFn: async ({ signal }) => {
      const one = await openDefinition(definition, version, signal);
      const latest = version === "Latest" ? one : await openDefinition(definition, "Latest", signal);
      return { one, newer: latest.etag === one.etag ? undefined : latest.etag };
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const error = types.error ?? opened.error;
  // What was read once stays: one may have changed it since.
  if (!types.data || !opened.data) {
    if (!error) return <Loading rows={10} />;
    return <Failed error={error} retry={() => void Promise.all([types.refetch(), opened.refetch()])} />;
  }
  return (
    <Open
      key={`${definition} ${version}`}
      types={types.data}
      opened={opened.data.one}
      newer={opened.data.newer}
    />
  );
}

/** The route of an existing definition; `?version=3` opens that version. */
export function DesignerPage() {
  const { id = "" }: { id?: string } = useParams({ strict: false });
  const { version }: { version?: unknown } = useSearch({ strict: false });
  const wanted = typeof version === "string" || typeof version === "number" ? String(version) : "Latest";
  return <DefinitionDesigner key={id} definition={id} version={wanted} />;
}

function New({ types }: { types: Types }) {
  const [studio] = useState(() => {
    const made = new Studio(newDefinition(newId(), w.newName), types, undefined, undefined);
    made.set({ drawer: readAddress(window.location.search).drawer });
    return made;
  });
  useEffect(() => studio.learn(types), [studio, types]);
  return <Designer studio={studio} />;
}

/** Draws a workflow that does not exist yet. */
export function DesignerNew() {
  const types = useTypes();
  if (!can(SAVING)) return <Empty title={t.problem.titles[403] ?? ""}>{w.mayNotDraw(SAVING)}</Empty>;
  if (types.data) return <New types={types.data} />;
  return types.error ? (
    <Failed error={types.error} retry={() => void types.refetch()} />
  ) : (
    <Loading rows={10} />
  );
}
