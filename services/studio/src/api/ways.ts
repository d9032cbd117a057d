/** How one can sign in: a user with a password, an API key, the token of an issuer. */
export type Way = "user" | "key" | "token";

const WAYS: readonly Way[] = ["user", "key", "token"];

/** Reads the ways that a server has written into the page: none where nobody has to sign in. */
export function readWays(content: string | null | undefined): readonly Way[] | undefined {
  if (content === null || content === undefined) return undefined;
  const words = content.split(/\s+/);
  return WAYS.filter((way) => words.includes(way));
}

/** The ways that are on; undefined where the page does not say, as with a server of an earlier version. */
export const waysOn = (): readonly Way[] | undefined => {
  if (typeof document === "undefined") return undefined;
  return readWays(document.querySelector('meta[name="staunch-authentication"]')?.getAttribute("content"));
};

/** Whether there is something to sign in to: where the page does not say, there may be. */
export const canSignIn = (ways = waysOn()): boolean => ways === undefined || ways.length > 0;

/** What the server calls a caller where nobody has to sign in. */
const NOBODY = "local";

/** The name of a caller, where it tells one person from another. */
export const personNamed = (who: string): string | undefined =>
  who === NOBODY ? undefined : who.replace(/^user:/, "");

/** Whether a request without credentials is refused in any case. */
export const isSignInNeeded = (ways = waysOn()): boolean => ways !== undefined && ways.length > 0;
