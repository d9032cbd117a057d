import { ORIGIN, type Query, withQuery } from "../api/base";
import { authorization } from "../api/session";
import { type Way, waysOn } from "../api/ways";

/** A word as a shell takes it. */
export const quoted = (word: string): string =>
  /^[\w.@:/=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** The server that `staunch` asks when none is named. */
const DEFAULT_SERVER = "http://127.0.0.1:5001";

/** A line of `staunch` for a command that asks the server: this one. */
export const staunch = (command: string, server = ORIGIN): string =>
  server === DEFAULT_SERVER ? `staunch ${command}` : `staunch ${command} --server ${quoted(server)}`;

/** What a line of `staunch` asks itself, not through a server. */
export type Store = "nats" | "database";

const STORES: readonly (readonly [RegExp, readonly Store[]])[] = [
  [/^staunch (dead|lease|provision)\b/, ["nats"]],
  [/^staunch (user|role|app|key|secret)\b/, ["database"]],
  [/^staunch (doctor|server)\b/, ["nats", "database"]],
];

/** What a line asks itself: it needs its address, and knows no server. */
export const storesOf = (line: string): readonly Store[] =>
  STORES.find(([part]) => part.test(line))?.[1] ?? [];

/** A line of `staunch` that the server wrote, for this server. */
export const served = (line: string, server = ORIGIN): string =>
  !line.startsWith("staunch ") || storesOf(line).length > 0 || line.includes(" --server ")
    ? line
    : staunch(line.slice("staunch ".length), server);

/** The header that the server takes: a key, or the token of a login or an issuer where it has no keys. */
const header = (ways: readonly Way[] | undefined): string =>
  ways === undefined || ways.includes("key")
    ? '-H "Authorization: ApiKey $STAUNCH_API_KEY"'
    : '-H "Authorization: Bearer $TOKEN"';

/** A line of `curl` for a path below the API, with credentials where the server wants some; `flags` come first. */
export const curl = (path: string, flags = "", ways = waysOn()): string =>
  [
    "curl",
    ...(flags ? [flags] : []),
    quoted(`${ORIGIN}/elsa/api${path}`),
    ...(authorization() ? [header(ways)] : []),
  ].join(" ");

/** A line of `curl` that sends this as JSON. */
export const curlJson = (path: string, body: unknown, method = "POST"): string =>
  curl(path, `-X ${method} -H "Content-Type: application/json" -d ${quoted(JSON.stringify(body))}`);

/** The file with a secret that a line sends, for the shell: no line has the secret itself. */
export const SECRET_FILE = '"$SECRET_FILE"';

/** A line of `curl` that sends this as JSON, and below `name` the text of a file without a line break at its end. */
export const curlSecret = (path: string, name: string, body: object, method = "POST"): string => {
  const program = `${JSON.stringify(body)} + {${name}: rtrimstr("\\n")}`;
  const sent = curl(path, `-X ${method} -H "Content-Type: application/json" -d @-`);
  return `jq -Rs ${quoted(program)} ${SECRET_FILE} | ${sent}`;
};

/** A name as one token of a subject. */
export const token = (name: string): string =>
  [...new TextEncoder().encode(name)]
    .map((byte) => {
      const sign = String.fromCharCode(byte);
      return /[\w-]/.test(sign) ? sign : `=${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("") || "=";

const natsLine = (subject: string, body: unknown, ...headers: string[]): string =>
  [`nats req ${quoted(subject)}`, quoted(body === undefined ? "" : JSON.stringify(body)), ...headers].join(
    " ",
  );

/** A line of `nats` that asks the API, with credentials where the server wants some. */
export function natsApi(method: string, path: string, body?: unknown, ways = waysOn()): string {
  const [place = "", query] = path.split("?");
  const parts = place.split("/").filter(Boolean);
  return natsLine(
    ["staunch.api.http", method.toLowerCase(), ...parts.map((part) => token(decodeURIComponent(part)))].join(
      ".",
    ),
    body,
    ...(query ? [`-H ${quoted(`Staunch-Query: ${query}`)}`] : []),
    ...(authorization() ? [header(ways)] : []),
  );
}

/** A line of `nats` that alters an instance; its command has no caller, and so no credentials. */
export const natsAlter = (instance: string, alterations: readonly unknown[]): string =>
  natsLine(`staunch.api.alter.${token(instance)}`, { alterations });

/** A line of `nats` that cancels an instance. */
export const natsCancel = (instance: string, reason?: string): string =>
  natsLine(`staunch.api.cancel.${token(instance)}`, reason ? { reason } : undefined);

/** The lines of a request that reads something. */
export const reads = (path: string, query: Query = {}) => ({
  nats: natsApi("GET", withQuery(path, query)),
  curl: curl(withQuery(path, query)),
});

/** The lines of a request that changes something. */
export const changes = (method: "POST" | "PUT" | "DELETE", path: string, body?: unknown) => ({
  nats: natsApi(method, path, body),
  curl: body === undefined ? curl(path, `-X ${method}`) : curlJson(path, body, method),
});
