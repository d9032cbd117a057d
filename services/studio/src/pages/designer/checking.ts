import { json } from "../../api/client";
import { onNetwork } from "../../api/network";
import { presence } from "../../api/presence";
import { asProblem } from "../../api/problem";
import type { Api } from "../../api/types";
import { type Index, titleOf } from "../../model/activities";
import { memberOf } from "../../model/descriptors";
import { isMembers, type Json, writeText } from "../../model/json";
import type { Problem } from "../../model/problems";
import type { Studio } from "./store";

/** How long a change rests before the server is asked about it. */
export const REST_MS = 700;
/** The longest that an answer is waited for. */
const PATIENCE_MS = 15_000;
/** How long after a question that failed it is asked again. */
export const AGAIN_MS = 5000;
/** A larger text is checked when it is saved or published, not with each change. */
export const LENGTH_MAX = 2_000_000;

type Ask = (text: string, signal: AbortSignal) => Promise<Api["Checked"]>;

const ask: Ask = (text, signal) =>
  json<Api["Checked"]>("/workflow-definitions/validation/check", { method: "POST", text, signal });

/** The steps of a JSON pointer below the model that was sent. */
function stepsOf(pointer: string | null | undefined): string[] | undefined {
  if (!pointer?.startsWith("/model/")) return undefined;
  const steps = pointer.slice("/model/".length).split("/");
  return steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The problems as the designer has them, each at its activity and its member. */
export function problemsAt(index: Index, { problems, isCutShort }: Api["Checked"]): Problem[] {
  const byPath = new Map([...index.entries.values()].map((entry) => [entry.path.join("/"), entry]));
  const found = problems.map((one): Problem => {
    const steps = stepsOf(one.pointer) ?? [];
    let length = steps.length;
    while (length > 0 && !byPath.has(steps.slice(0, length).join("/"))) length--;
    const entry = byPath.get(steps.slice(0, length).join("/")) ?? index.get(one.activityId ?? "");
    const named = entry ? (one.property ?? steps[length]) : steps[0];
    const member = named ? memberOf(named) : undefined;
    const type = entry && index.type(entry);
    const input = type?.inputs.find(({ name }) => memberOf(name) === member)?.displayName;
    return {
      fault: { is: "server", message: one.message, input },
      key: entry?.key,
      member,
      isWarning: one.severity !== "error",
    };
  });
  return isCutShort ? [...found, { fault: { is: "more" }, isWarning: true }] : found;
}

/** Those that the designer does not say itself, in its own words. */
export function unsaid(found: readonly Problem[], said: readonly Problem[]): Problem[] {
  const isSaid = ({ key, member, isWarning }: Problem) =>
    said.some((own) => {
      const isHere = key !== undefined && own.key === key;
      // A warning of the server that names an activity and no member of it says that it never runs.
      if (own.fault.is === "unreached") return isHere && isWarning && member === undefined;
      if (own.isWarning || member === undefined) return false;
      // Two of one name: the page says which, and the server the place of the second.
      if (own.fault.is === "name") return key === undefined && member === `${own.fault.kind}s`;
      return isHere && own.member === member;
    });
  return found.filter((one) => !isSaid(one));
}

/** A message with the names of activities in place of their ids; where others have the same name, both. */
export function withNames(index: Index, message: string): string {
  return message.replace(/(\bactivity )?([\w-]+)/g, (all, before: string | undefined, id: string) => {
    const entry = before !== undefined || /^[0-9a-f]{12,}$/.test(id) ? index.get(id) : undefined;
    return entry ? `${before ?? ""}"${titleOf(index, entry)}"` : all;
  });
}

/** Asks about a text; an answer that comes when the text is another one counts no more. */
/** Whether the same question can have an answer later: nobody answered, or the server could not just now. */
const canAnswerLater = (status: number): boolean => status === 0 || status === 429 || status >= 500;

async function check(studio: Studio, doc: Json, text: string, signal: AbortSignal, send: Ask): Promise<void> {
  const stays = () => !signal.aborted && studio.get().history.doc === doc;
  try {
    const answer = await send(text, AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]));
    if (!stays()) return;
    const { index, problems } = studio.get();
    studio.set({ found: unsaid(problemsAt(index, answer), problems), checked: "yes" });
  } catch (error) {
    if (!stays()) return;
    const { status, detail } = asProblem(error);
    // A text that is no definition is a problem of the text; anything else is none of it.
    if (status === 400)
      studio.set({
        found: [{ fault: { is: "server", message: detail }, isWarning: false }],
        checked: "yes",
      });
    else studio.set({ found: [], checked: canAnswerLater(status) ? "failed" : "refused" });
  }
}

/**
 * Asks the server about each change, once it rests; a later change ends the question before it. A question that
 * failed is asked again after a while, and at once when the network is back.
 */
export function followChanges(studio: Studio, send: Ask = ask): () => void {
  let seen: Json | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking: AbortController | undefined;
  const stop = () => {
    clearTimeout(timer);
    asking?.abort();
  };
  const start = async (doc: Json) => {
    const text = isMembers(doc) ? `{"model":${writeText(doc, "")},"publish":true}` : "";
    if (text === "" || text.length > LENGTH_MAX)
      return studio.set({ found: [], checked: text === "" ? "refused" : "long" });
    asking = new AbortController();
    const { signal } = asking;
    await check(studio, doc, text, signal, send);
    if (!signal.aborted && studio.get().checked === "failed") timer = setTimeout(again, AGAIN_MS);
  };
  const again = () => {
    const { history, checked } = studio.get();
    if (checked !== "failed" || history.doc !== seen) return;
    stop();
    // A tab that cannot be seen asks nothing.
    if (presence() === "hidden") timer = setTimeout(again, AGAIN_MS);
    else void start(history.doc);
  };
  const look = () => {
    const { doc } = studio.get().history;
    if (doc === seen) return;
    seen = doc;
    stop();
    if (studio.get().checked !== "no") studio.set({ checked: "no" });
    timer = setTimeout(() => void start(doc), REST_MS);
  };
  const leave = studio.subscribe(look);
  const forgetNetwork = onNetwork(again);
  look();
  return () => {
    leave();
    forgetNetwork();
    stop();
  };
}
