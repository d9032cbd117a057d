/** Who the caller is: kept for this tab, and gone when it closes. */
export type Session =
  | { kind: "none" }
  | { kind: "key"; key: string }
  | { kind: "user"; name: string; access: string; refresh: string };

const STORE = "staunch.session";
/** Somebody has signed out in this tab: it does not ask others for their session. */
const LEFT = "staunch.signed-out";
const listeners = new Set<() => void>();
let current: Session = read();
let refused = false;
let known: readonly string[] | undefined;

function read(): Session {
  try {
    const text = sessionStorage.getItem(STORE);
    return text ? (JSON.parse(text) as Session) : { kind: "none" };
  } catch {
    return { kind: "none" };
  }
}

/** Whose session it is: new tokens of the same person are no other one. */
export function personOf(who: Session): string {
  return who.kind === "user" ? `user ${who.name}` : who.kind === "key" ? `key ${who.key}` : "none";
}

function changed(): void {
  for (const listener of listeners) listener();
}

export const session = {
  current: () => current,
  /** The server wants credentials, and those that are here do not count. */
  isRefused: () => refused,
  /** What the server says that the caller may do; what it said before is forgotten. */
  learn(permissions: readonly string[]) {
    const isSame = known?.length === permissions.length && permissions.every((one) => known?.includes(one));
    if (isSame) return;
    known = permissions;
    changed();
  },
  permissions: () => known,
  set(next: Session) {
    if (next.kind !== "user" || current.kind !== "user" || next.name !== current.name) known = undefined;
    current = next;
    refused = false;
    if (next.kind === "none") sessionStorage.removeItem(STORE);
    else {
      sessionStorage.setItem(STORE, JSON.stringify(next));
      sessionStorage.removeItem(LEFT);
    }
    changed();
  },
  hasLeft: () => sessionStorage.getItem(LEFT) !== null,
  /** Signs out. */
  leave() {
    session.set({ kind: "none" });
    sessionStorage.setItem(LEFT, "yes");
  },
  /** Signs out, and keeps the page for the same person: its credentials are gone. */
  retire() {
    if (current.kind === "user") current = { ...current, access: "", refresh: "" };
    sessionStorage.removeItem(STORE);
    sessionStorage.setItem(LEFT, "yes");
    refused = true;
    changed();
  },
  refuse() {
    if (refused) return;
    refused = true;
    changed();
  },
  /** Waits until one has signed in again, or nobody wants to know any more. */
  accepted(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (refused && !signal?.aborted) return;
        leave();
        signal?.removeEventListener("abort", look);
        resolve();
      };
      const leave = session.subscribe(look);
      signal?.addEventListener("abort", look);
      look();
    });
  },
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};

export function authorization(of: Session = current): string | undefined {
  if (of.kind === "key") return `ApiKey ${of.key}`;
  if (of.kind === "user") return `Bearer ${of.access}`;
  return undefined;
}

interface Claims {
  permissions?: string | string[];
  exp?: number;
}

/** What an access token says; undefined where it cannot be read. */
function claimsOf(of: Session): Claims | undefined {
  if (of.kind !== "user") return undefined;
  const payload = of.access.split(".")[1];
  if (!payload) return undefined;
  try {
    return JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/"))) as Claims;
  } catch {
    return undefined;
  }
}

/** The permissions that an access token names; undefined where nothing is known. */
export function permissionsOf(of: Session): string[] | undefined {
  const permissions = claimsOf(of)?.permissions;
  if (permissions === undefined) return undefined;
  return Array.isArray(permissions) ? permissions : [permissions];
}

/** When the access token of a session ends, in milliseconds; 0 where it does not say. */
export const expiryOf = (of: Session): number => (claimsOf(of)?.exp ?? 0) * 1000;

export function allows(granted: string[] | undefined, wanted: string): boolean {
  return granted === undefined || granted.includes("*") || granted.includes(wanted);
}

/** What the caller may not do is not offered. Where the permissions are not known, the server decides. */
export function can(permission: string): boolean {
  return known ? known.includes(permission) : allows(permissionsOf(current), permission);
}
