import { personOf, type Session, session } from "../api/session";

/** Work of a page that is saved nowhere yet. What is in it stays in the page: somebody else may be asked about it. */
export interface Unsaved {
  name: string;
}

let given: (() => Unsaved | undefined) | undefined;

/** The page that is open says what would be lost with it. */
export function holdUnsaved(give: () => Unsaved | undefined): () => void {
  given = give;
  return () => {
    if (given === give) given = undefined;
  };
}

/** What is lost if this one signs in: the page is kept for the person who opened it alone. */
export function lostTo(next: Session): Unsaved | undefined {
  return personOf(next) === personOf(session.current()) ? undefined : given?.();
}
