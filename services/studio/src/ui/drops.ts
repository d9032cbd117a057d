/** What becomes of files that are dropped on a page. */
interface Drops {
  /** Takes them; without it, nothing can be dropped. */
  take?: (files: readonly File[]) => void;
  /** Whether files are over the page that it would take. */
  onOver?: (isOver: boolean) => void;
}

/** An editor reads a file that is dropped in it. */
const isInEditor = ({ target }: Event) => target instanceof Element && target.closest(".cm-editor") !== null;

const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") === true;

/**
 * Takes files that are dropped anywhere in the window, or refuses them: the browser would leave the page, with all that
 * is not saved, and open the file.
 */
export function followDrops(page: Pick<Window, "addEventListener" | "removeEventListener">, drops: Drops) {
  const over = (event: DragEvent) => {
    if (!hasFiles(event) || isInEditor(event)) return;
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = drops.take ? "copy" : "none";
    if (drops.take) drops.onOver?.(true);
  };
  // It leaves one part of the page for another all the time, and the window for none.
  const leave = (event: DragEvent) => {
    if (event.relatedTarget === null) drops.onOver?.(false);
  };
  const drop = (event: DragEvent) => {
    if (!hasFiles(event) || isInEditor(event)) return;
    event.preventDefault();
    drops.onOver?.(false);
    drops.take?.([...(event.dataTransfer?.files ?? [])]);
  };
  page.addEventListener("dragover", over);
  page.addEventListener("dragleave", leave);
  page.addEventListener("drop", drop);
  return () => {
    page.removeEventListener("dragover", over);
    page.removeEventListener("dragleave", leave);
    page.removeEventListener("drop", drop);
  };
}
