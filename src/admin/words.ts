/** The words of a search; undefined where it has none. */
export function wordsOf(search: string | undefined): string[] | undefined {
  const words = (search ?? "").split(/\s+/).filter((word) => word !== "");
  return words.length === 0 ? undefined : words;
}
