import { ORIGIN } from "../api/base";

/** A word as a shell takes it. */
export const quoted = (word: string): string =>
  /^[\w.@:/=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** The server that `staunch` asks when none is named. */
const DEFAULT_SERVER = "http://127.0.0.1:5001";

/** A line of `staunch` for a command that asks the server: this one. */
export const staunch = (command: string, server = ORIGIN): string =>
  server === DEFAULT_SERVER ? `staunch ${command}` : `staunch ${command} --server ${quoted(server)}`;
