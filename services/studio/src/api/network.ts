/** Hears that the browser lost the network, or has one again; a server on the same machine answers either way. */
const listeners = new Set<() => void>();

export function onNetwork(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function networkChanged(): void {
  for (const listener of [...listeners]) listener();
}

export function watchNetwork(): void {
  window.addEventListener("online", networkChanged);
  window.addEventListener("offline", networkChanged);
}
