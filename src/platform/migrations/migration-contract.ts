import packageFile from "../../../package.json" with { type: "json" };

// Two releases run side by side during an update, so a migration may add at any time but remove only what no running
// release uses. One that removes says so:
//
//   -- contract since 0.2.0: webhook_delivery.next_attempt_at is neither read nor written since then

const header = /^-- contract since (\d+\.\d+\.\d+): \S.*$/m;
const recorded = /^contract since (\d+\.\d+\.\d+)$/;
const expands = "expand";

export const readContract = (migrationText: string): string | null => header.exec(migrationText)?.[1] ?? null;

/** Stored in the database, for releases that do not have the migration's file. */
export const noteContract = (since: string | null): string => (since === null ? expands : `contract since ${since}`);

export function worksWith(note: string | null, release: string = packageFile.version): boolean | null {
  if (note === expands) return true;
  const since = recorded.exec(note ?? "")?.[1];
  return since === undefined ? null : compareReleases(release, since) >= 0;
}

export function compareReleases(one: string, other: string): number {
  const [left, right] = [one, other].map((release) => release.split(".").map(Number));
  return left!.map((part, i) => part - (right![i] ?? 0)).find((difference) => difference !== 0) ?? 0;
}
