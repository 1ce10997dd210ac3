/** One spelling for one account: width, case and surrounding space do not matter. */
export function foldUsername(username: string): string {
  return username.normalize("NFKC").toLowerCase().normalize("NFKC").trim();
}
