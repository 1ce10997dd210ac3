/** One spelling for texts that are the same to people: width, case and surrounding space do not matter. */
export function foldText(text: string): string {
  return text.normalize("NFKC").toLowerCase().normalize("NFKC").trim();
}
