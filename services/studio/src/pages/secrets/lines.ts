import { id } from "../../api/client";
import { changes, curlSecret, quoted, SECRET_FILE } from "../../lib/shell";
import type { Commands } from "../../ui/Code";

/** What is sent of a secret besides its value. */
type About = Record<string, unknown>;

/** The value is in no line: a file has it, so that it may be any text, such as a key in several lines. */
const withValue = (path: string, about: About): string => curlSecret(path, "value", about);

const staunchSet = (name: string, options = ""): string =>
  `staunch secret set ${quoted(name)} --file ${SECRET_FILE}${options}`;

interface New {
  name: string;
  typeName: string;
  description?: string;
  expiresAt?: string | null;
}

/** The lines that make a secret. `staunch` makes texts without an end. */
export function newLines(secret: New): Commands {
  const { name, typeName, description, expiresAt } = secret;
  const canStaunch = typeName === "Text" && !expiresAt;
  const options = description ? ` --description ${quoted(description)}` : "";
  return {
    staunch: canStaunch ? staunchSet(name, options) : null,
    curl: withValue("/secrets", { name, typeName, description, expiresAt }),
  };
}

/** The lines that give a secret another value. `staunch` takes its end away. */
export const rotateLines = (name: string, expiresAt?: string | null): Commands => ({
  staunch: expiresAt ? null : staunchSet(name),
  curl: withValue(`/secrets/${id(name)}/rotate`, { expiresAt }),
});

/** The lines that change what is said about a secret: only the API can. */
export const describeLines = (name: string, about: About): Commands =>
  changes("PUT", `/secrets/${id(name)}`, about);

/** The lines that revoke or remove a secret: `staunch` only removes. */
export const endLines = (deed: "revoke" | "delete", name: string): Commands =>
  deed === "revoke"
    ? changes("POST", `/secrets/${id(name)}/revoke`, {})
    : { staunch: `staunch secret rm ${quoted(name)}`, ...changes("DELETE", `/secrets/${id(name)}`) };
