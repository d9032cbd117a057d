import type { Index } from "./activities";
import type { Joined } from "./commands";
import type { Edit } from "./history";
import { type Json, listOf, type Members, membersOf, textOf } from "./json";
import { valueAt } from "./patch";
import { Steps } from "./steps";
import type { PageView } from "./view";

export const stateName = (key: string): string => key.replace(/^state:/, "");

export const transitionName = (from: string, to: string): string => `${from} to ${to}`;

export function transition(from: string, to: string): Members {
  return { name: transitionName(from, to), from, to };
}

/** The same transition between other states; a name that tells its states follows them. */
export function withEnds(one: Members, from: string, to: string): Members {
  const isTold = textOf(one.name) === transitionName(textOf(one.from), textOf(one.to));
  return { ...one, ...(isTold ? { name: transitionName(from, to) } : {}), from, to };
}

/** A name like this one that no state has; it is taken then. */
export function freeState(name: string, taken: Set<string>): string {
  const base = name.replace(/\d+$/, "") || "State";
  let free = name;
  for (let at = 1; taken.has(free); at++) free = `${base}${at}`;
  taken.add(free);
  return free;
}

/** Adds a state to a machine, with the transitions that join it to what is there; the first is where it starts. */
export function addStateTo(index: Index, view: PageView, state: Members, how: Joined, label: string): Edit {
  const steps = new Steps(index.doc);
  const name = textOf(state.name);
  const transitions = [...view.path, "transitions"];
  steps.append([...view.path, "states"], state);
  if (view.items.length === 0) steps.set([...view.path, "initialState"], name);
  if (how.after) steps.append(transitions, transition(stateName(how.after.key), name));
  if (how.before) steps.append(transitions, transition(name, stateName(how.before.key)));
  const cut = how.line?.line;
  if (cut?.index !== undefined) {
    const was = membersOf(valueAt(index.doc, [...transitions, cut.index])) ?? {};
    steps.set([...transitions, cut.index], withEnds(was, stateName(cut.from), name));
    steps.append(transitions, transition(name, stateName(cut.to)));
  }
  return steps.edit(label, { select: [`state:${name}`] });
}

/** Puts copied states into a machine, under names of their own. */
export function addStates(
  index: Index,
  view: PageView,
  states: readonly Members[],
  transitions: readonly Json[],
  label: string,
): Edit {
  const steps = new Steps(index.doc);
  const taken = new Set(listOf(view.inside?.states).map((one) => textOf(membersOf(one)?.name)));
  const names = new Map<string, string>();
  for (const state of states) {
    const name = freeState(textOf(state.name), taken);
    names.set(textOf(state.name), name);
    steps.append([...view.path, "states"], { ...state, name });
  }
  for (const value of transitions) {
    const one = membersOf(value);
    const [from, to] = [names.get(textOf(one?.from)), names.get(textOf(one?.to))];
    if (one && from !== undefined && to !== undefined)
      steps.append([...view.path, "transitions"], withEnds(one, from, to));
  }
  return steps.edit(label, { select: [...names.values()].map((name) => `state:${name}`) });
}
