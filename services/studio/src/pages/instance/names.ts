import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { versionQuery } from "../../api/queries";
import { can } from "../../api/session";
import { activitiesIn, titlesOf } from "../../graph/activities";
import { useTypeWords } from "../../graph/words";

/** What the activities of a version are called. */
export function useActivityNames(version: string): (activity: string, otherwise?: string) => string {
  const root = useQuery({ ...versionQuery(version), enabled: can("read:workflow-definitions") }).data?.root;
  const words = useTypeWords();
  return useMemo(() => {
    const titles = titlesOf(activitiesIn(root), words);
    return (activity, otherwise = activity) => titles.get(activity) ?? otherwise;
  }, [root, words]);
}
