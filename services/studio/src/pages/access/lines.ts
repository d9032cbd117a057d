import { id } from "../../api/client";
import { idOf } from "../../lib/permissions";
import { changes, curlSecret, quoted, SECRET_FILE } from "../../lib/shell";
import type { Commands } from "../../ui/Code";

/** An option with a list; none where nothing is in it. */
const list = (option: string, items: readonly string[]): string =>
  items.length > 0 ? ` --${option} ${quoted(items.join(","))}` : "";

/** The lines of a request that has a password, where one is chosen: no line has it, and NATS does not get it. */
const withPassword = (
  method: "POST" | "PUT",
  path: string,
  body: object,
  hasPassword: boolean,
): Pick<Commands, "nats" | "curl"> =>
  hasPassword ? { curl: curlSecret(path, "password", body, method) } : changes(method, path, body);

/** The lines that make a user; the server draws a password where none is chosen. */
export const newUserLines = (name: string, roles: readonly string[], hasPassword: boolean): Commands => ({
  staunch: `staunch user create ${quoted(name)}${list("roles", roles)} ${
    hasPassword ? `--password-file ${SECRET_FILE}` : "--generate"
  }`,
  ...withPassword("POST", "/identity/users", { name, roles }, hasPassword),
});

/** The lines that change a user. */
export const userLines = (
  user: { id: string; name: string },
  roles: readonly string[],
  hasPassword: boolean,
): Commands => ({
  staunch: [
    ["staunch user set-roles", user.name, ...roles]
      .map((word, at) => (at > 0 ? quoted(word) : word))
      .join(" "),
    ...(hasPassword ? [`staunch user set-password ${quoted(user.name)} --password-file ${SECRET_FILE}`] : []),
  ],
  ...withPassword("PUT", `/identity/users/${id(user.id)}`, { roles }, hasPassword),
});

/** The lines that let a user log in no more. */
export const disableLines = (user: { id: string; name: string }): Commands => ({
  staunch: `staunch user disable ${quoted(user.name)}`,
  ...changes("PUT", `/identity/users/${id(user.id)}`, { isDisabled: true }),
});

/** The lines that make a role, or change one; `staunch` has none for a role without permissions. */
export function roleLines(
  role: { id: string } | undefined,
  next: { id?: string; name: string; permissions: readonly string[] },
): Commands {
  const { name, permissions } = next;
  const own = role?.id ?? next.id ?? idOf(name);
  const can = own !== "" && permissions.length > 0;
  const verb = role ? "set" : "create";
  return {
    staunch: can
      ? `staunch role ${verb} ${quoted(own)} --name ${quoted(name)}${list("permissions", permissions)}`
      : null,
    ...(role
      ? changes("PUT", `/identity/roles/${id(role.id)}`, { name, permissions })
      : changes("POST", "/identity/roles", { id: next.id, name, permissions })),
  };
}

/** The lines that make an application. */
export const applicationLines = (name: string, roles: readonly string[]): Commands => ({
  staunch: `staunch app create ${quoted(name)}${list("roles", roles)}`,
  ...changes("POST", "/identity/applications", { name, roles }),
});

const DAY = 86_400;

/** The lines that make a key. */
export const keyLines = (name: string, permissions: readonly string[], seconds?: number): Commands => ({
  staunch: `staunch key create ${quoted(name)}${list("permissions", permissions)}${
    seconds === undefined ? "" : ` --days ${seconds / DAY}`
  }`,
  ...changes("POST", "/api-keys", { name, permissions, lifetimeSeconds: seconds }),
});
