import { keepPreviousData, queryOptions, skipToken, useQuery } from "@tanstack/react-query";
import { parseMetrics } from "../lib/metrics";
import { get, id, json, post, send } from "./client";
import { can } from "./session";
import type { Api } from "./types";

export const nodesQuery = queryOptions({
  queryKey: ["nodes"],
  queryFn: ({ signal }) => get<Api["Nodes"]>("/nodes", undefined, signal),
  refetchInterval: 15_000,
});

export const instancesQuery = (request: Api["ListRequest"], key: unknown) =>
  queryOptions({
    queryKey: ["instances", key],
    queryFn: ({ signal }) =>
      json<Api["InstancePage"]>("/workflow-instances/query", {
        method: "POST",
        body: request,
        signal,
      }),
    placeholderData: keepPreviousData,
  });

/** The latest versions of definitions, as many as one page of the API holds. */
export const latestQuery = queryOptions({
  queryKey: ["definitions", "latest-page"],
  staleTime: 10_000,
  queryFn: ({ signal }) =>
    get<Api["DefinitionPage"]>("/workflow-definitions", { versionOptions: "Latest", pageSize: 1000 }, signal),
});

/** What started, finished and faulted in the last hour, five minutes by five minutes. */
export const lastHourQuery = queryOptions({
  queryKey: ["last-hour"],
  queryFn: ({ signal }) => get<Api["LastHour"]>("/workflow-instances/last-hour", undefined, signal),
  refetchInterval: 30_000,
});

/** The definitions with the most instances that run or wait: counted again whenever the other figures are. */
export const unfinishedQuery = queryOptions({
  queryKey: ["counts", "by-definition"],
  queryFn: ({ signal }) =>
    get<Api["UnfinishedInstances"]>("/workflow-instances/counts/by-definition", undefined, signal),
  refetchInterval: 10_000,
});

/** Whether this is `staunch demo`. Only there something changes: while it does, it is asked often. */
export const demoQuery = queryOptions({
  queryKey: ["demo"],
  queryFn: ({ signal }) => get<Api["DemoShown"]>("/demo", undefined, signal),
  refetchInterval: ({ state: { data } }) => {
    if (!data?.isDemo) return false;
    return data.state === "Running" && !data.lastKill ? 30_000 : 2000;
  },
});

/** How many instances match, each filter by itself; the server counts. */
export function useCounts(filters: Api["ListRequest"][], key: unknown = filters) {
  return useQuery({
    queryKey: ["counts", key],
    enabled: can("read:workflow-instances"),
    queryFn: ({ signal }) =>
      Promise.all(
        filters.map(async (filter) => {
          const body = { ...filter, page: 0, pageSize: 0 };
          const page = await json<Api["InstancePage"]>("/workflow-instances/query", {
            method: "POST",
            body,
            signal,
          });
          return page.totalCount;
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
}

/** How many instances match one filter: a figure that fails by itself. */
export function useCount(filter: Api["ListRequest"], key: string) {
  return useQuery({
    queryKey: ["counts", "one", key],
    enabled: can("read:workflow-instances"),
    queryFn: async ({ signal }) => {
      const body = { ...filter, page: 0, pageSize: 0 };
      const path = "/workflow-instances/query";
      return (await json<Api["InstancePage"]>(path, { method: "POST", body, signal })).totalCount;
    },
    refetchInterval: 30_000,
  });
}

/** The instances that wait, and those that run: the figures of Home. */
export const useWaiting = () => useCount({ subStatus: "Suspended" }, "waiting");
export const useRunning = () => useCount({ subStatuses: ["Pending", "Executing"] }, "running");

/** The server counts up to this many instances of a state. */
export const COUNTED_MAX = 100_000;

/** How many instances match in each state. */
export function useStateCounts(filter: Api["ListRequest"], key: unknown) {
  return useQuery({
    queryKey: ["counts", "states", key],
    queryFn: () => post<Api["InstanceCounts"]>("/workflow-instances/counts", filter),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
}

export const instanceQuery = (instance: string) =>
  queryOptions({
    queryKey: ["instance", instance],
    queryFn: ({ signal }) =>
      get<Api["InstanceDetail"]>(`/workflow-instances/${id(instance)}`, undefined, signal),
  });

export const variablesQuery = (instance: string) =>
  queryOptions({
    queryKey: ["instance", instance, "variables"],
    queryFn: ({ signal }) =>
      get<Api["Items_VariableSeen"]>(`/workflow-instances/${id(instance)}/variables`, undefined, signal),
  });

export const whyQuery = (instance: string) =>
  queryOptions({
    queryKey: ["instance", instance, "why"],
    queryFn: ({ signal }) => get<Api["Why"]>(`/workflow-instances/${id(instance)}/why`, undefined, signal),
  });

export const statsQuery = (instance: string) =>
  queryOptions({
    queryKey: ["instance", instance, "stats"],
    queryFn: () => post<Api["Report"]>("/activity-executions/report", { workflowInstanceId: instance }),
  });

/** A version by its id. An instance whose definition was never published has none: then nothing is asked. */
export const versionQuery = (version: string) =>
  queryOptions({
    queryKey: ["version", version],
    queryFn: version
      ? ({ signal }) =>
          get<Api["FullDefinition"]>(`/workflow-definitions/by-id/${id(version)}`, undefined, signal)
      : skipToken,
    staleTime: 60_000,
  });

export const definitionQuery = (definition: string, versionOptions = "Latest") =>
  queryOptions({
    queryKey: ["definition", definition, versionOptions],
    queryFn: ({ signal }) =>
      get<Api["FullDefinition"]>(
        `/workflow-definitions/by-definition-id/${id(definition)}`,
        { versionOptions },
        signal,
      ),
  });

export const versionsQuery = (definition: string) =>
  queryOptions({
    queryKey: ["definition", definition, "versions"],
    queryFn: ({ signal }) =>
      get<Api["DefinitionSummary"][]>(`/workflow-definitions/${id(definition)}/versions`, undefined, signal),
  });

/** What went wrong, by its cause. */
export const incidentGroupsQuery = (asked: { definitionId?: string; page: number; pageSize: number }) =>
  queryOptions({
    queryKey: ["incidents", "groups", asked],
    queryFn: ({ signal }) => get<Api["IncidentGroups"]>("/incidents/groups", asked, signal),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  });

/** What is not done in the whole cluster: the same at each node. */
export const clusterCountsQuery = queryOptions({
  queryKey: ["cluster", "counts"],
  queryFn: ({ signal }) => get<Api["ClusterCounts"]>("/cluster/counts", undefined, signal),
  refetchInterval: 5000,
});

/** Which executors take commands, and the pauses. */
export const runtimeQuery = queryOptions({
  queryKey: ["runtime"],
  queryFn: ({ signal }) => get<Api["RuntimeStatus"]>("/admin/workflow-runtime/status", undefined, signal),
  refetchInterval: 15_000,
});

/** What NATS holds. */
export const natsQuery = queryOptions({
  queryKey: ["cluster", "streams"],
  queryFn: ({ signal }) => get<Api["NatsFigures"]>("/cluster/streams", undefined, signal),
  refetchInterval: 5000,
});

/** The metrics of the node that answers. Its figures of the cluster are 0 unless it counts them for all. */
export const metricsQuery = queryOptions({
  queryKey: ["metrics"],
  queryFn: async ({ signal }) => {
    const answer = await send("/metrics", { signal, headers: { Accept: "text/plain" } });
    return parseMetrics(await answer.text());
  },
  refetchInterval: 5000,
});

export const lettersQuery = (page: number, pageSize: number) =>
  queryOptions({
    queryKey: ["letters", page, pageSize],
    queryFn: ({ signal }) =>
      get<Api["Paged_DeadLetter"]>("/bookmark-queue/dead-letters", { page, pageSize }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  });
