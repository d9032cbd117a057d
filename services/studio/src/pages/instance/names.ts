import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { versionQuery } from "../../api/queries";
import { can } from "../../api/session";
import { activitiesIn, nameOf } from "../../graph/activities";

/** What the activities of a version are called. */
export function useActivityNames(version: string): (activity: string, otherwise?: string) => string {
  const root = useQuery({ ...versionQuery(version), enabled: can("read:workflow-definitions") }).data?.root;
  return useMemo(() => {
    const all = activitiesIn(root);
    return (activity, otherwise = activity) => {
      const found = all.get(activity);
      return found ? nameOf(found) : otherwise;
    };
  }, [root]);
}
