import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { definitionQuery } from "../../api/queries";
import type { Api } from "../../api/types";
import { activitiesIn, titlesOf } from "../../graph/activities";
import { activityWord } from "../../lib/format";
import { useDefinitionNames } from "../instances/names";

type Place = Pick<Api["IncidentGroup"], "definitionId" | "activityId" | "activityType">;

/** What an activity is called on the page of its definition, as in the story of an instance. */
export function useActivityName({ definitionId, activityId, activityType }: Place): string {
  // A definition that is gone is not asked for.
  const isThere = useDefinitionNames().has(definitionId);
  const query = useQuery({ ...definitionQuery(definitionId), enabled: isThere, staleTime: 60_000 });
  const root = query.data?.root;
  const titles = useMemo(() => titlesOf(activitiesIn(root)), [root]);
  return titles.get(activityId) ?? activityWord(activityId, undefined, activityType);
}

export function ActivityName({ of }: { of: Place }) {
  return <span title={of.activityId}>{useActivityName(of)}</span>;
}
