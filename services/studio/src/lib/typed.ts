/** The digits of a number as a reader types it: alone, or with the separators of the language. */
export function digitsOf(text: string, language: string): string {
  const group = new Intl.NumberFormat(language, { useGrouping: "always" })
    .formatToParts(1_000_000)
    .find(({ type }) => type === "group")?.value;
  const plain = text.trim().replace(/\s/g, " ");
  const separator = (group ?? "").replace(/\s/g, " ");
  const isGrouped = separator !== "" && /^\d{1,3}(\D\d{3})+$/.test(plain);
  return isGrouped ? plain.replaceAll(separator, "") : plain;
}
