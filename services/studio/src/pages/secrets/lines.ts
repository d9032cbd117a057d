import { id } from "../../api/client";
import { changes, curlJson, quoted } from "../../lib/shell";
import type { Commands } from "../../ui/Code";

/** What is sent of a secret besides its value. */
type About = Record<string, unknown>;

/** The value is in no line: the shell puts in what the variable has. */
const VALUE = "$SECRET";

/** A line of `curl` that sends this and a value. */
const withValue = (path: string, about: About): string =>
  curlJson(path, { ...about, value: VALUE }).replace(`"${VALUE}"`, `"'"${VALUE}"'"`);

interface New {
  name: string;
  typeName: string;
  description?: string;
  expiresAt?: string | null;
}

/** The lines that make a secret. `staunch` asks for the value, and makes texts without an end. */
export function newLines(secret: New): Commands {
  const { name, typeName, description, expiresAt } = secret;
  const canStaunch = typeName === "Text" && !expiresAt;
  const options = description ? ` --description ${quoted(description)}` : "";
  return {
    staunch: canStaunch ? `staunch secret set ${quoted(name)}${options}` : null,
    curl: withValue("/secrets", { name, typeName, description, expiresAt }),
  };
}

/** The lines that give a secret another value. `staunch` takes its end away. */
export const rotateLines = (name: string, expiresAt?: string | null): Commands => ({
  staunch: expiresAt ? null : `staunch secret set ${quoted(name)}`,
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
