export function foldText(text: string): string {
  return text.normalize("NFKC").toLowerCase().normalize("NFKC").trim();
}
