import { isSame } from "../../model/json";
import type { State } from "./store";

/** The form in which text was typed that is not in the definition: it is not read yet, or it cannot be. */
export function aheadIn({ broken, isUnread }: State): "JSON" | "YAML" | undefined {
  if (broken !== undefined) return "JSON";
  return isUnread ? "YAML" : undefined;
}

/** Whether the definition, or a text of it, is another one than what was saved last. */
export function isChanged(state: State): boolean {
  const { saved, history } = state;
  return saved === undefined || aheadIn(state) !== undefined || !isSame(saved, history.doc);
}
