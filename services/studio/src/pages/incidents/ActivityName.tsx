import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { definitionQuery } from "../../api/queries";
import type { Api } from "../../api/types";
import { activitiesIn, titlesOf } from "../../graph/activities";
import { useTypeWords } from "../../graph/words";
import { activityWord } from "../../lib/format";
import { visible } from "../../lib/visible";
import { useDefinitionNames } from "../instances/names";

type Place = Pick<Api["IncidentGroup"], "definitionId" | "activityId"> & { activityType?: string };

/** What an activity is called in the graph of its definition, and in the story of an instance. */
export function useActivityName({ definitionId, activityId, activityType }: Place): string {
  // A definition that is gone is not asked for.
  const isThere = useDefinitionNames().has(definitionId);
  const query = useQuery({ ...definitionQuery(definitionId), enabled: isThere, staleTime: 60_000 });
  const root = query.data?.root;
  const words = useTypeWords();
  const titles = useMemo(() => titlesOf(activitiesIn(root), words), [root, words]);
  const otherwise = activityType ? activityWord(activityId, undefined, activityType) : visible(activityId);
  return titles.get(activityId) ?? otherwise;
}

/** The name of an activity, with its id as the second word where the name has it not already, or what tells it apart. */
export function ActivityName({ of, told }: { of: Place; told?: string }) {
  const name = useActivityName(of);
  const id = visible(of.activityId);
  const hasId = name === id || name.endsWith(`(${id})`) || /^[0-9a-f]{12,}$/.test(id);
  // What tells it apart has the id in it.
  const second = told === undefined ? (hasId ? undefined : id) : visible(told);
  return (
    <span title={told ?? of.activityId}>
      {name}
      {second !== undefined && second !== name && <span className="text-soft"> {second}</span>}
    </span>
  );
}
