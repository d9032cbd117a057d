/** Pixels of a font size as the browser computes it; 16 where it says nothing. */
export function pixelsOf(fontSize: string): number {
  const pixels = Number.parseFloat(fontSize);
  return pixels > 0 ? pixels : 16;
}

/** The pixels of one `rem`: people make the text of their browser larger. */
export const rem = (): number => pixelsOf(getComputedStyle(document.documentElement).fontSize);
