import { useSyncExternalStore } from "react";
import { asProblem } from "../api/problem";
import { visible } from "../lib/visible";
import { t } from "../text";
import { Button } from "./Button";

interface Notice {
  id: number;
  text: string;
  bad: boolean;
  /** What it is about: a later one about the same takes its place. */
  about?: string;
}

/** How long a notice stays, in milliseconds; a bad one is read twice. */
const SHORT = 5000;
const LONG = 20_000;

let notices: Notice[] = [];
let next = 1;
const listeners = new Set<() => void>();

function set(all: Notice[]): void {
  notices = all;
  for (const listener of listeners) listener();
}

function add(text: string, bad: boolean, about?: string): void {
  const id = next++;
  const others = notices.filter((one) => about === undefined || one.about !== about);
  set([...others.slice(-3), { id, text, bad, about }]);
  setTimeout(() => set(notices.filter((one) => one.id !== id)), bad ? LONG : SHORT);
}

export const notify = (text: string, about?: string) => add(text, false, about);

export function complain(error: unknown, about?: string): void {
  const { detail, errors, body } = asProblem(error);
  // What the API says of a definition names a member of its answer: the page says what is in it.
  const said =
    Array.isArray(body.validationErrors) && errors.length > 0 ? t.definitions.notPublished : detail;
  add([said, ...errors].join(" "), true, about);
}

/** The notices that are shown, oldest first. */
export const shownNotices = () => notices;

/** Does something and says how it ended; what is said may come from what it has done. */
export async function attempt<T>(
  work: () => Promise<T>,
  said: string | ((done: T) => string),
): Promise<boolean> {
  try {
    const done = await work();
    notify(typeof said === "string" ? said : said(done));
    return true;
  } catch (error) {
    complain(error);
    return false;
  }
}

export function Notices() {
  const shown = useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, shownNotices);
  return (
    <div
      aria-live="polite"
      className="fixed right-4 bottom-4 z-40 flex max-w-md flex-col gap-2 max-md:bottom-15 max-md:left-4"
    >
      {shown.map((notice) => (
        <div
          key={notice.id}
          className={`flex items-start gap-2 rounded-md border bg-raised py-1 pr-1 pl-3 text-sm shadow-panel ${notice.bad ? "border-faulted" : "border-line"}`}
        >
          <p className={`flex-1 py-1.5 break-words ${notice.bad ? "text-faulted" : ""}`}>
            {visible(notice.text)}
          </p>
          <Button
            tone="quiet"
            icon="close"
            label={t.close}
            onClick={() => set(notices.filter((one) => one.id !== notice.id))}
          />
        </div>
      ))}
    </div>
  );
}
