/** Numbers a migration after the highest one; branches that were joined can leave gaps. */
export function nameNextMigration(existing: readonly string[], name: string): string {
  const highest = Math.max(0, ...existing.map((folder) => Number(folder.slice(0, 4))));
  return `${String(highest + 1).padStart(4, "0")}_${name}`;
}
