/** From May on, rosters are of the next school year. */
export function schoolYearOf(now: Date): string {
  const year = now.getFullYear() - (now.getMonth() < 4 ? 1 : 0);
  return `${year}/${String(year + 1).slice(-2)}`;
}
