import { personOf, type Session, session } from "../api/session";

/** Work of a page that is saved nowhere yet, as a file. */
export interface Unsaved {
  name: string;
  file: string;
  text: string;
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

/** Gives it as a file, which can be imported again. */
export function download({ file, text }: Unsaved): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
