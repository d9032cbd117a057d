import { ORIGIN } from "../api/base";
import { authorization } from "../api/session";

/** A word as a shell takes it. */
export const quoted = (word: string): string =>
  /^[\w.@:/=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** The server that `staunch` asks when none is named. */
const DEFAULT_SERVER = "http://127.0.0.1:5001";

/** A line of `staunch` for a command that asks the server: this one. */
export const staunch = (command: string, server = ORIGIN): string =>
  server === DEFAULT_SERVER ? `staunch ${command}` : `staunch ${command} --server ${quoted(server)}`;

/** These ask NATS and the database, or start a node: they know no server. */
const LOCAL = /^staunch (dead|provision|server)\b/;

/** A line of `staunch` that the server wrote, for this server. */
export const served = (line: string, server = ORIGIN): string =>
  !line.startsWith("staunch ") || LOCAL.test(line) || line.includes(" --server ")
    ? line
    : staunch(line.slice("staunch ".length), server);

/** A line of `curl` for a path below the API, with a key where the server wants one; `flags` come first. */
export const curl = (path: string, flags = ""): string =>
  [
    "curl",
    ...(flags ? [flags] : []),
    quoted(`${ORIGIN}/elsa/api${path}`),
    ...(authorization() ? ['-H "Authorization: ApiKey $STAUNCH_API_KEY"'] : []),
  ].join(" ");
