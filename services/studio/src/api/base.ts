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
