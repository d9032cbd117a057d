import { asProblem } from "../api/problem";
import { t } from "../text";

export interface Entered {
  current: string;
  next: string;
  repeated: string;
}

/** What is wrong, by the field that it is about. */
export type Flaws = Partial<Record<keyof Entered, string>>;

/** What is wrong before the server is asked; undefined where nothing is. */
export function flawsIn({ next, repeated }: Entered): Flaws | undefined {
  return next === repeated ? undefined : { repeated: t.me.notRepeated };
}

/** What a refusal of the server says about a field; undefined where it is about none. */
export function flawsOf(refusal: unknown): Flaws | undefined {
  const { status, detail } = asProblem(refusal);
  if (status === 403) return { current: t.me.wrongPassword };
  if (status === 400) return { next: detail };
  return undefined;
}
