/** " Did you mean 'x'?" with the nearest of the candidates; nothing where none is near. */
export function didYouMean(written: string, candidates: readonly string[]): string {
  const near = nearestOf(written, candidates);
  return near === null ? "" : ` Did you mean '${near}'?`;
}

const longest = 100;

export function nearestOf(written: string, candidates: readonly string[]): string | null {
  if (written.length > longest) return null;
  const near = candidates
    .map((candidate) => ({ candidate, distance: distanceOf(written.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.floor(candidate.length / 3)))
    .toSorted((a, b) => a.distance - b.distance)[0];
  return near?.candidate ?? null;
}

/** How many letters have to be added, removed, replaced or swapped with their neighbour. */
function distanceOf(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= from.length; row++) {
    const distances = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      distances[column] = Math.min(
        rows[row - 1]![column]! + 1,
        distances[column - 1]! + 1,
        rows[row - 1]![column - 1]! + (isSame ? 0 : 1),
        isSwapped ? rows[row - 2]![column - 2]! + 1 : Infinity,
      );
    }
    rows.push(distances);
  }
  return rows[from.length]![to.length]!;
}
