/** The server writes `<base href="{base path}/studio/">`; the API is beside it. */
export function studioPath(baseUri: string): string {
  return new URL(".", baseUri).pathname.replace(/\/$/, "");
}

export function serverRoot(baseUri: string): string {
  return studioPath(baseUri).replace(/\/studio$/, "");
}

const baseUri = typeof document === "undefined" ? "http://localhost/studio/" : document.baseURI;

export const STUDIO = studioPath(baseUri);
export const ROOT = serverRoot(baseUri);
export const API = `${ROOT}/elsa/api`;
export const ORIGIN = new URL(baseUri).origin + ROOT;

export type Query = Record<string, string | number | boolean | string[] | undefined>;

/** A path with what is asked for after it; what is empty is left out. */
export function withQuery(path: string, query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  const text = search.toString();
  return path + (text ? `?${text}` : "");
}
