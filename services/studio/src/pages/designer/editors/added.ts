/** The first field of a row; `data-rows` is around all of them and the button that adds one. */
const FIRST = "[data-first]";

/** Puts the focus into the row that a button has just added, once it is drawn: what is typed next belongs there. */
export function focusAdded(button: HTMLElement): void {
  requestAnimationFrame(() => {
    const fields = button.closest("[data-rows]")?.querySelectorAll<HTMLElement>(FIRST);
    const last = fields?.[fields.length - 1];
    last?.focus();
    if (last instanceof HTMLInputElement) last.select();
  });
}
