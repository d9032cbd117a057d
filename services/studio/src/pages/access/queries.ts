import { queryOptions, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { get } from "../../api/client";
import { can } from "../../api/session";
import type { Api } from "../../api/types";

export const usersQuery = queryOptions({
  queryKey: ["users"],
  queryFn: ({ signal }) => get<Api["UserList"]>("/identity/users", undefined, signal),
});

export const rolesQuery = queryOptions({
  queryKey: ["roles"],
  queryFn: ({ signal }) => get<Api["RoleList"]>("/identity/roles", undefined, signal),
});

/** What roles are called, by their ids; an id stands for itself where the name is not known. */
export function useRoleNames(): (role: string) => string {
  const roles = useQuery({ ...rolesQuery, enabled: can("read:role") }).data?.roles;
  return useMemo(() => {
    const names = new Map(roles?.map(({ id, name }) => [id, name]));
    return (role) => names.get(role) ?? role;
  }, [roles]);
}

export const applicationsQuery = queryOptions({
  queryKey: ["applications"],
  queryFn: ({ signal }) => get<Api["ApplicationList"]>("/identity/applications", undefined, signal),
});

export const keysQuery = queryOptions({
  queryKey: ["keys"],
  queryFn: ({ signal }) => get<Api["Items_KeySummary"]>("/api-keys", undefined, signal),
});

/** What the caller may do, and can give to others. */
export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => get<Api["Me"]>("/identity/me", undefined, signal),
});
