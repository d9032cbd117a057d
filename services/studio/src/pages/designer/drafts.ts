import { useQuery } from "@tanstack/react-query";
import { latestQuery } from "../../api/queries";
import { can } from "../../api/session";
import type { Api } from "../../api/types";

type Row = Pick<Api["DefinitionSummary"], "definitionId" | "name" | "isPublished">;

/** What a workflow is called as a type of activities: its name in Pascal case, as the server writes it. */
export const typeNameOf = ({ name, definitionId }: Row): string =>
  (name ?? definitionId)
    .split(/[^\p{L}\p{N}]/u)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

/** The definition that would be this type if it were published. */
export const draftOf = <R extends Row>(rows: readonly R[], typeName: string): R | undefined =>
  rows.find((row) => !row.isPublished && typeNameOf(row) === typeName);

/** Looks for it among the latest versions, where a type is not known. */
export function useDraft(typeName: string): Row | undefined {
  return useQuery({
    ...latestQuery,
    enabled: can("read:workflow-definitions"),
    select: ({ items }) => draftOf(items, typeName),
  }).data;
}
