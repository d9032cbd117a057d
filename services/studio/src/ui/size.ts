/**
 * The size of a drawing whose side is so many pixels at the usual size of text. It grows with the text of the browser,
 * and on a canvas it stays, as all that is drawn there.
 */
export const square = (pixels: number) => {
  const side = `calc(var(--spacing) * ${pixels / 4})`;
  return { width: side, height: side };
};
