import { idOf, isActivity } from "./activities";
import { isMembers, type Json, type Members, namesOf, objectOf } from "./json";

/** Which of two sides that moved an activity is followed. */
export type Side = "mine" | "theirs";

/** An activity that is in both texts, but at another place in each. */
export interface Move {
  base: Members;
  mine: Members;
  theirs: Members;
  /** The containers in which it is; absent where only one side moved it. */
  clash?: { mine: string; theirs: string };
  to: Side;
}

interface Found {
  activity: Members;
  /** The place as one reads it: the id of the container, and the place in it if it is no child of it. */
  word: string;
  /** The activity around it, and the way from there; an item of a list has the list as its place. */
  place: string;
}

/** All activities of a text by their ids, but those whose id is there twice. */
function activitiesOf(doc: Json | undefined): Map<string, Found> {
  const found = new Map<string, Found>();
  const doubles = new Set<string>();
  const look = (value: Json | undefined, owner: string, way: string): void => {
    if (Array.isArray(value)) {
      for (const [at, item] of value.entries())
        look(item, owner, isActivity(item) ? `${way}/` : `${way}/${at}`);
      return;
    }
    if (!isMembers(value)) return;
    let inner = { owner, way };
    const id = isActivity(value) ? idOf(value) : "";
    if (id !== "") {
      if (found.has(id)) doubles.add(id);
      const slot = way.split("/").filter(Boolean).join(".");
      const word = slot === "activities" ? owner : `${owner} ${slot}`.trim();
      found.set(id, { activity: value, word, place: `${owner} ${way}` });
      inner = { owner: id, way: "" };
    }
    for (const name of namesOf(value)) look(value[name], inner.owner, `${inner.way}/${name}`);
  };
  look(isMembers(doc) ? doc.root : undefined, "", "");
  for (const id of doubles) found.delete(id);
  return found;
}

/** The activities that one side or both have put elsewhere; where both did, mine is followed, or theirs if chosen. */
export function movesOf(
  base: Json,
  mine: Json,
  theirs: Json,
  isTheirs: (id: string) => boolean,
): Map<string, Move> {
  const [was, here, there] = [activitiesOf(base), activitiesOf(mine), activitiesOf(theirs)];
  const moves = new Map<string, Move>();
  for (const [id, before] of was) {
    const [one, other] = [here.get(id), there.get(id)];
    if (!one || !other || one.place === other.place) continue;
    const move = { base: before.activity, mine: one.activity, theirs: other.activity };
    if (other.place === before.place) moves.set(id, { ...move, to: "mine" });
    else if (one.place === before.place) moves.set(id, { ...move, to: "theirs" });
    else {
      const clash = { mine: one.word, theirs: other.word };
      moves.set(id, { ...move, clash, to: isTheirs(id) ? "theirs" : "mine" });
    }
  }
  return moves;
}

/** What stands for a moved activity while the texts around it are joined. */
const MARK = "staunch.moved";

/** The id of the activity that a mark stands for. */
export const markedId = (value: Json): string | undefined =>
  isActivity(value) && value.type === MARK ? idOf(value) : undefined;

/** The text without the moved activities: marks stand where the side that is followed has them. */
export function withMarks(
  value: Json | undefined,
  side: Side | "base",
  moves: ReadonlyMap<string, Move>,
): Json | undefined {
  if (moves.size === 0) return value;
  const marked = (inner: Json): Json[] => {
    const move = isActivity(inner) ? moves.get(idOf(inner)) : undefined;
    if (!move) return [within(inner)];
    return move.to === side && isActivity(inner) ? [{ type: MARK, id: idOf(inner) }] : [];
  };
  const within = (inner: Json): Json => {
    if (Array.isArray(inner)) return inner.flatMap(marked);
    if (!isMembers(inner)) return inner;
    return objectOf(
      namesOf(inner).flatMap((name) => marked(inner[name] ?? null).map((one): [string, Json] => [name, one])),
    );
  };
  return value === undefined ? undefined : within(value);
}

/** The text with the activities in place of their marks. */
export function withoutMarks(value: Json, activity: (id: string) => Json | undefined): Json {
  if (Array.isArray(value)) return value.map((inner) => withoutMarks(inner, activity));
  if (!isMembers(value)) return value;
  const id = markedId(value);
  if (id !== undefined) return withoutMarks(activity(id) ?? null, activity);
  return objectOf(
    namesOf(value).map((name): [string, Json] => [name, withoutMarks(value[name] ?? null, activity)]),
  );
}
