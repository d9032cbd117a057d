import { type State, stateOf } from "../lib/states";
import { t } from "../text";
import { square } from "./size";

const COLOUR: Record<State, string> = {
  pending: "text-pending",
  running: "text-running",
  waiting: "text-waiting",
  finished: "text-finished",
  faulted: "text-faulted",
  cancelled: "text-cancelled",
  passedOver: "text-ink",
  skipped: "text-skipped",
};

function Shape({ state, still }: { state: State; still?: boolean }) {
  switch (state) {
    case "pending":
      return <circle cx="8" cy="8" r="5.5" strokeDasharray="2 2.3" />;
    case "running":
      return <path className={still ? undefined : "turning"} d="M8 2.5A5.5 5.5 0 1 1 2.5 8" />;
    case "waiting":
      return <path d="M5.5 4v8M10.5 4v8" strokeWidth="2.2" />;
    case "finished":
      return <path d="m3 8.5 3.2 3.2L13 4.8" strokeWidth="2" />;
    case "faulted":
      return <path d="M8 2.5 14.5 13.5h-13zM8 6.5v3M8 11.4v.2" />;
    case "cancelled":
      return <path d="M8 13.5a5.5 5.5 0 1 1 0-11 5.5 5.5 0 0 1 0 11zM4.2 11.8l7.6-7.6" />;
    case "passedOver":
      return <path d="m3 3.5 6.5 4.5L3 12.5zM12.5 3.5v9" />;
    default:
      return <path d="M4 8h8" />;
  }
}

/** An arc turns where something runs now; in what happened before, it is still. */
export function StateIcon({ state, size = 14, still }: { state: State; size?: number; still?: boolean }) {
  return (
    <svg
      aria-hidden="true"
      style={square(size)}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      className={`shrink-0 ${COLOUR[state]}`}
    >
      <Shape state={state} still={still} />
    </svg>
  );
}

/** The state of an instance or activity: colour, icon and word, the same everywhere. */
export function StateBadge({ status, word }: { status: string; word?: string }) {
  const state = stateOf(status);
  return (
    <span
      className={`inline-flex items-center gap-1.5 align-middle whitespace-nowrap font-medium ${COLOUR[state]}`}
    >
      <StateIcon state={state} />
      {word ?? (state === "skipped" ? status : t.states[state])}
    </span>
  );
}

/** The number of a version; one that is very long is cut, and whole on hover. */
export function Version({ of }: { of: number }) {
  return (
    <span className="inline-block max-w-24 truncate align-bottom tabular-nums" title={`v${of}`}>
      v{of}
    </span>
  );
}

export function Badge({
  children,
  tone = "plain",
}: {
  children: React.ReactNode;
  tone?: "plain" | "accent" | "bad" | "warn" | "good";
}) {
  const tones = {
    plain: "border-line text-soft",
    accent: "border-accent text-accent",
    bad: "border-faulted text-faulted",
    warn: "border-waiting text-waiting",
    good: "border-finished text-finished",
  };
  return (
    <span
      className={`inline-flex items-center rounded-sm border align-middle px-1.5 text-xs leading-5 whitespace-nowrap ${tones[tone]}`}
    >
      {children}
    </span>
  );
}
